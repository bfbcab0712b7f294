"""One picture of a bench/scale record: a panel per figure, workers to the right, a line per contender."""

import math
import xml.sax.saxutils

import plot
import table

PANEL_WIDTH, PANEL_HEIGHT = 330, 190  # px, of what is drawn in a panel
LEFT, ABOVE, BELOW, RIGHT = 62, 44, 34, 22  # px around it
COLUMNS = 3
FOOT_SIZE = plot.FONT - 1
LINE_STYLE = " .line { fill: none; stroke-width: 2 } .bound { stroke: #656d76; stroke-dasharray: 3 3 }"


def color_of(contender):
    return (
        plot.FLOOR_COLOR
        if contender == "floor"
        else REDIS if contender == "redis" else plot.COLORS.get(contender.split("_")[0], plot.OTHER_COLOR)
    )


REDIS = "#d0517f"


class upwards:
    """From values to px above the axis: from 0, or logarithmic where values are far apart."""

    def __init__(self, values):
        positive = [value for value in values if value > 0]
        self.most, least = max(positive, default=1), min(positive, default=1)
        self.logarithmic = self.most > 8 * least
        self.first = plot.scale.step_below(least * 0.999) if self.logarithmic else 0

    def at(self, value):
        if not self.logarithmic:
            return PANEL_HEIGHT * max(value, 0) / self.most
        return PANEL_HEIGHT * math.log(max(value, self.first) / self.first) / math.log(self.most / self.first)

    def ticks(self):
        if not self.logarithmic:
            step = plot.scale.step_below(self.most / 3)
            return [step * n for n in range(int(self.most / step + 1e-9) + 1)]
        exponents = range(math.floor(math.log10(self.first)), math.floor(math.log10(self.most)) + 1)
        steps = (1, 2, 5) if len(exponents) < 3 else (1,)
        return [tick for n in exponents for step in steps if self.first <= (tick := step * 10.0**n) <= self.most]


class drawing:
    def __init__(self):
        self.elements = []

    def text(self, x, y, words, kind="", anchor="start"):
        how = f' class="{kind}"' if kind else ""
        self.elements.append(
            f'<text x="{x:.1f}" y="{y:.1f}"{how} text-anchor="{anchor}">{xml.sax.saxutils.escape(words)}</text>'
        )

    def line(self, x1, y1, x2, y2, kind):
        self.elements.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>')

    def path(self, points, color):
        self.elements.append(
            f'<polyline class="line" stroke="{color}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>'
        )

    def dot(self, x, y, color, said):
        self.elements.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{color}">'
            f'<title>{xml.sax.saxutils.escape(said)}</title></circle>'
        )

    def whisker(self, x, low, high, color):
        self.elements.append(
            f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" stroke="{color}" stroke-width="1.2"/>'
        )


def wrapped(words, width, size):
    """Lines that fit."""
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and plot.width_of(longer, size) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def draw_axes(on, x, y, by, workers, at, cpus):
    for tick in by.ticks():
        height = y + PANEL_HEIGHT - by.at(tick)
        on.line(x, height, x + PANEL_WIDTH, height, "grid")
        on.text(x - 6, height + 4, plot.shown(tick, by.most), "small", "end")
    on.line(x, y, x, y + PANEL_HEIGHT, "axis")
    on.line(x, y + PANEL_HEIGHT, x + PANEL_WIDTH, y + PANEL_HEIGHT, "axis")
    for n in workers:
        on.text(at(n), y + PANEL_HEIGHT + 15, str(n), "small", "middle")
    if workers[0] <= cpus < workers[-1]:  # to the right there are more workers than CPUs
        between = at(max(n for n in workers if n <= cpus)) + 14
        on.line(between, y, between, y + PANEL_HEIGHT, "bound")


def draw_panel(on, x, y, found, panel, workers, cpus):
    rows = [row for row in found.rows(panel.question) if found.values(row, panel.figure)]
    by = upwards([value for row in rows for value in found.values(row, panel.figure)])
    step = (PANEL_WIDTH - 40) / max(1, len(workers) - 1)
    at = lambda n: x + 20 + workers.index(n) * step  # noqa: E731
    size = plot.FONT - 1
    for number, line in enumerate(wrapped(panel.title, PANEL_WIDTH + LEFT, plot.FONT)[:1]):
        on.text(x - LEFT + 8, y - 26 + number * 14, line, "group")
    better = "more" if panel.more_is_better else "less"
    on.text(
        x - LEFT + 8, y - 10, f"{panel.heading}: {better} is better{', logarithmic' if by.logarithmic else ''}", "small"
    )
    draw_axes(on, x, y, by, workers, at, cpus)
    contenders = list(dict.fromkeys(row[1] for row in rows))
    for number, who in enumerate(contenders):
        color, shift, points = color_of(who), (number - (len(contenders) - 1) / 2) * 3, []
        for row in sorted(row for row in rows if row[1] == who):
            values = found.values(row, panel.figure)
            middle = found.median(row, panel.figure)
            px, py = at(row[2]) + shift, y + PANEL_HEIGHT - by.at(middle)
            points.append((px, py))
            on.whisker(px, y + PANEL_HEIGHT - by.at(min(values)), y + PANEL_HEIGHT - by.at(max(values)), color)
            on.dot(
                px,
                py,
                color,
                f"{who}, {row[2]}: {table.number(middle)} [{table.number(min(values))} {table.number(max(values))}]",
            )
        on.path(points, color)
    return size


def draw_legend(on, y, contenders):
    """A color for each library, whatever its contender is called in a question."""
    by_color, x = {}, plot.MARGIN
    for who in contenders:
        by_color.setdefault(color_of(who), []).append(who)
    for color, names in by_color.items():
        said = ", ".join(names)
        on.elements.append(f'<rect x="{x:.1f}" y="{y - 9:.1f}" width="14" height="10" fill="{color}"/>')
        on.text(x + 19, y, said)
        x += 19 + plot.width_of(said) + 14


def in_rows(panels):
    """Panels of the same figure side by side: what W14 costs, then how fast it was."""
    key_value = [each for each in panels if each.question.startswith("w14")]
    web = [each for each in panels if each.question.startswith("h")]
    rest = [each for each in panels if each not in key_value and each not in web]
    return rest + sorted(key_value, key=lambda each: each.more_is_better) + web


def picture(found, panels, workers, cpus, title, foot):
    """The text of the SVG. `found`: what results.py makes of a record."""
    shown = [
        each for each in in_rows(panels) if any(found.values(row, each.figure) for row in found.rows(each.question))
    ]
    on, cell_width, cell_height = drawing(), LEFT + PANEL_WIDTH + RIGHT, ABOVE + PANEL_HEIGHT + BELOW
    width = COLUMNS * cell_width + plot.MARGIN
    on.text(plot.MARGIN, plot.MARGIN + plot.FONT, title, "title")
    top = plot.MARGIN + plot.FONT + 26
    draw_legend(on, top, list(dict.fromkeys(row[1] for row in found.all_rows())))
    top += 12
    for number, panel in enumerate(shown):
        draw_panel(
            on,
            plot.MARGIN / 2 + number % COLUMNS * cell_width + LEFT,
            top + number // COLUMNS * cell_height + ABOVE,
            found,
            panel,
            workers,
            cpus,
        )
    y = top + -(-len(shown) // COLUMNS) * cell_height + FOOT_SIZE
    for line in wrapped(foot, width - 2 * plot.MARGIN, FOOT_SIZE):
        on.text(plot.MARGIN, y, line, "small")
        y += FOOT_SIZE + 4
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y:.0f}" viewBox="0 0 {width} {y:.0f}">',
            f"<style>{plot.STYLE}{LINE_STYLE}</style>",
            f'<rect class="paper" width="{width}" height="{y:.0f}"/>',
            *on.elements,
            "</svg>\n",
        ]
    )
