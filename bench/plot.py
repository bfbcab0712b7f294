"""Pictures of results: for each question an SVG with a bar per row, of the median, and a whisker from minimum to maximum."""

import math
import xml.sax.saxutils

import plan
import table

ROW = 18  # px, of a bar with what is written beside it
BAR = 11
CHARACTER = 7.1  # px, at most on average, at FONT
FONT = 12
PLOT = 420  # px, the width from the axis to the longest whisker
MARGIN = 14
LOGARITHMIC_FROM = 30  # times that the largest value is the smallest one

# By what a contender's name begins with. Each is to be seen on white and on black.
COLORS = {"tartan": "#e8590c", "asio": "#3b82d6", "tbb": "#12968b", "caf": "#a05cc8", "tokio": "#b5890b", "go": "#0ea5c6", "uv": "#6d9a1f",
          "event": "#9aa51b", "mutex": "#d0517f", "nginx": "#2f9e44"}
FLOOR_COLOR = "#8b8f94"
PAPERS_COLOR = "#a9744f"
OTHER_COLOR = "#6b7fa8"

STYLE = """
 text { font: %dpx Verdana, "DejaVu Sans", sans-serif; fill: #24292f; paint-order: stroke; stroke: #ffffff; stroke-width: 3px }
 .title { font-weight: bold; font-size: %dpx } .group { font-weight: bold } .small { font-size: %dpx; fill: #656d76 }
 .paper { fill: #ffffff } .grid { stroke: #d8dee4 } .axis { stroke: #656d76 } .whisker { stroke: #24292f; stroke-width: 1.2 }
 @media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; stroke: #0d1117 } .small { fill: #9198a1 }
  .paper { fill: #0d1117 } .grid { stroke: #2b323b } .axis { stroke: #9198a1 } .whisker { stroke: #e6edf3 }
 }
""" % (FONT, FONT + 2, FONT - 1)


def width_of(text, size=FONT):
    return len(text) * CHARACTER * size / FONT


def color_of(question, label):
    name = label.split("+")[0]
    if name == question.floor[0]:
        return FLOOR_COLOR
    return PAPERS_COLOR if "@" in name else COLORS.get(name.split("_")[0], OTHER_COLOR)


def shown(value, beside=0):
    """As in the tables, but thousands and millions are not written out, from 10 000 on, or beside such a one."""
    for power, word in ((1e6, "M"), (1e3, "k")):
        if value >= power and max(value, beside) >= 1e4:
            return f"{value / power:.3g} {word}"
    return table.number(value)


class scale:
    """From values to px right of the axis. Bars begin at 0, on a logarithmic scale at the last tick below all values."""

    def __init__(self, values):
        positive = [value for value in values if value > 0]
        self.most = max(positive, default=1)
        least = min(positive, default=1)
        self.logarithmic = self.most > LOGARITHMIC_FROM * least
        self.first = self.step_below(least * 0.999) if self.logarithmic else 0

    @staticmethod
    def step_below(value):
        """1, 2 or 5 times a power of ten."""
        power = 10.0 ** math.floor(math.log10(value))
        return next(step * power for step in (5, 2, 1) if step * power <= value)

    @staticmethod
    def step_above(step):
        """The next one."""
        return step * (2.5 if f"{step:e}"[0] == "2" else 2)

    def at(self, value):
        if not self.logarithmic:
            return PLOT * value / self.most
        return PLOT * math.log(max(value, self.first) / self.first) / math.log(self.most / self.first)

    def said_at(self, tick):
        return shown(tick, self.most)

    def fits(self, ticks):
        """Whether there is room between what is written at them."""
        halves = [width_of(self.said_at(tick), FONT - 1) / 2 for tick in ticks]
        return all(self.at(ticks[n]) - self.at(ticks[n - 1]) >= halves[n - 1] + halves[n] + CHARACTER for n in range(1, len(ticks)))

    def ticks(self):
        if self.logarithmic:
            exponents = range(math.floor(math.log10(self.first)), math.floor(math.log10(self.most)) + 1)
            for steps, every in (((1, 2, 5), 1), *(((1,), n) for n in range(1, len(exponents)))):
                ticks = [tick for n in exponents[::every] for step in steps if self.first <= (tick := step * 10.0 ** n) <= self.most]
                if self.fits(ticks) and (len(exponents) < 4 or steps == (1,)):
                    break
            return ticks
        step = self.step_below(self.most / 4)
        while not self.fits(ticks := [step * n for n in range(int(self.most / step + 1e-9) + 1)]):
            step = self.step_above(step)
        return ticks


class canvas:
    """Collects elements from top to bottom."""

    def __init__(self, labels_width, width):
        self.labels_width = labels_width
        self.width = width
        self.y = MARGIN
        self.elements = []

    def text(self, x, words, kind="", anchor="start"):
        how = f' class="{kind}"' if kind else ""
        how += f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.elements.append(f'<text x="{x:.1f}" y="{self.y:.1f}"{how}>{xml.sax.saxutils.escape(words)}</text>')

    def line(self, x1, y1, x2, y2, kind):
        self.elements.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def paragraph(self, words, kind, size):
        """As many lines as it takes."""
        line = ""
        for word in words.split():
            if line and width_of(f"{line} {word}", size) > self.width - 2 * MARGIN:
                self.text(MARGIN, line, kind)
                self.y += size + 4
                line = ""
            line = f"{line} {word}".strip()
        self.text(MARGIN, line, kind)
        self.y += size + 4

    def drawn(self):
        height = self.y + MARGIN / 2
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width:.0f}" height="{height:.0f}" '
                          f'viewBox="0 0 {self.width:.0f} {height:.0f}">', f"<style>{STYLE}</style>",
                          f'<rect class="paper" width="{self.width:.0f}" height="{height:.0f}"/>', *self.elements, "</svg>\n"])


def said_at(found, question, row, figure):
    """What stands beside the bar: the median, and how many times as good as the floor."""
    name, _, more_is_better, *other = figure
    ratio = found.ratio(row, (row[0], question.floor[0], 1), other[0] if other else name, more_is_better)
    return shown(found.median(row, name)) + (f"  ({table.number(ratio)} {question.floor[1]})" if ratio is not None else "")


def draw_row(on, found, question, row, figure, by):
    name = figure[0]
    values, median = found.values(row, name), found.median(row, name)
    middle, left = on.y + ROW / 2, on.labels_width
    said = f"{row[1]}, {row[2]} worker{'s' if row[2] > 1 else ''}: {table.number(median)} [{table.number(min(values))} {table.number(max(values))}]"
    faded = ' fill-opacity="0.6"' if "+" in row[1] else ""
    on.elements.append(f'<rect x="{left:.1f}" y="{middle - BAR / 2:.1f}" width="{by.at(median):.1f}" height="{BAR}" fill="{color_of(question, row[1])}"{faded}>'
                       f"<title>{xml.sax.saxutils.escape(said)}</title></rect>")
    first, last = left + by.at(min(values)), left + by.at(max(values))
    on.line(first, middle, last, middle, "whisker")
    for end in (first, last):
        on.line(end, middle - 3, end, middle + 3, "whisker")
    on.y = middle + FONT * 0.36
    on.text(left - 8, row[1], anchor="end")
    on.text(last + 8, said_at(found, question, row, figure))
    on.y = middle + ROW / 2


def draw_figure(on, found, question, figure):
    """A panel: heading, axis, and a group of bars for each number of workers."""
    name, heading, more_is_better, *_ = figure
    rows = [row for row in found.rows(question) if found.values(row, name)]
    if not rows:
        return
    by = scale([value for row in rows for value in found.values(row, name)])
    on.y += 10
    on.paragraph(f"{heading}: {'more' if more_is_better else 'less'} is better{', logarithmic' if by.logarithmic else ''}", "group", FONT)
    on.y += 6
    for tick in by.ticks():
        on.text(on.labels_width + by.at(tick), by.said_at(tick), "small", "middle")
    on.y += 6
    top, below = on.y, len(on.elements)
    for workers in sorted({row[2] for row in rows}):
        on.y += FONT + 2
        on.text(MARGIN, f"{workers} worker{'s' if workers > 1 else ''}", "group")
        on.y += 5
        for row in (row for row in rows if row[2] == workers):
            draw_row(on, found, question, row, figure, by)
    bars, on.elements = on.elements[below:], on.elements[:below]
    for tick in by.ticks():
        x = on.labels_width + by.at(tick)
        on.line(x, top, x, on.y, "grid" if x > on.labels_width else "axis")
    on.elements += bars
    on.y += 12


def picture(found, question, foot):
    """The text of the SVG; empty if the question was not run."""
    rows = found.rows(question)
    if not rows:
        return ""
    labels_width = 2 * MARGIN + max(width_of(row[1]) for row in rows)
    beside = max(width_of(said_at(found, question, row, figure)) for figure in question.figures for row in rows if found.values(row, figure[0]))
    on = canvas(labels_width, labels_width + PLOT + 8 + beside + MARGIN)
    on.y += FONT
    on.paragraph(question.title, "title", FONT + 2)
    for figure in question.figures:
        draw_figure(on, found, question, figure)
    on.y += 6
    on.paragraph(f"Bars: medians; whiskers: minimum and maximum; in brackets: how many times as good as {question.floor[0]} with one worker.", "small",
                 FONT - 1)
    on.paragraph(foot, "small", FONT - 1)
    return on.drawn()


def write(found, foot, folder):
    """<folder>/<question>.svg for each question that was run; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for question in plan.QUESTIONS:
        text = picture(found, question, foot)
        if text:
            written.append(folder / f"{question.key}.svg")
            written[-1].write_text(text, encoding="utf-8")
    return written
