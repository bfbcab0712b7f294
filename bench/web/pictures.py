"""The papers' figures, of today's servers, and what a request costs: bars and curves as SVG. simulation/web_picture.py draws by them, too."""

import math
import xml.sax.saxutils

import contenders
import plot
import workloads

HEIGHT = 320  # px, of a curve's field
WIDTH = 560
APART = 15  # px, between two labels at the end of curves
LEFT = 70
CPU = ("Drawn is the CPU cost, inverted: requests per second of server CPU, times workers. It is no throughput, for the load shares the machine: workers "
       "that idle or wait for one another lose nothing in it; the tables have CPU use and req/s beside it.")
# By name, so that one has the same everywhere. Each is to be seen on white and on black.
COLORS = {contenders.FLOOR: plot.FLOOR_COLOR, "tartan-web": "#e8590c", "web": "#e8590c", "web-2003": "#d0517f", "web-sws": "#d0517f",
          "web-per-worker": "#f08c5a", "web-serial": "#b5890b", "web-sws-serial": "#b5890b", "nginx": "#2f9e44", "h2o": "#3b82d6", "lighttpd": "#6d9a1f",
          "apache-event": "#c2255c", "apache-worker": "#0ea5c6", "apache-prefork": "#5c7cfa", "beast-strand": "#a8703a", "hyper": "#12968b"}
# Where the same program is drawn with several schedulers.
SCHEDULERS = {contenders.SMP: "#a05cc8", contenders.SMP_ALONE: "#3b82d6", contenders.MELY: "#e64980", contenders.MELY_ALONE: "#f08c5a"}
COPIES_COLOR = "#b5890b"


def color_of(name):
    if name.endswith("+copies"):
        return COPIES_COLOR
    program, _, scheduler = name.partition("@")
    return SCHEDULERS.get(scheduler) or COLORS.get(program, plot.OTHER_COLOR)


def shown_name(name):
    """With what the papers call the scheduler."""
    program, _, scheduler = name.removesuffix("+copies").partition("@")
    said = f"{program}, {contenders.NAMES[scheduler]}" if scheduler else program
    return f"N copies of {said}" if name.endswith("+copies") else said


# --- bars ---------------------------------------------------------------------------------------------------------------


def bars(title, said, groups, foot):
    """`groups`: (heading, [(name, value)]), each bar with its value beside it. Empty text if there is nothing to draw."""
    every = [each for _, rows in groups for each in rows]
    if not every:
        return ""
    labels = 2 * plot.MARGIN + max(plot.width_of(shown_name(name)) for name, _ in every)
    on = plot.canvas(labels, labels + plot.PLOT + 90)
    by = plot.scale([value for _, value in every])
    on.y += plot.FONT
    on.paragraph(title, "title", plot.FONT + 2)
    on.paragraph(said, "group", plot.FONT)
    for heading, rows in groups:
        on.y += plot.FONT + 2
        on.text(plot.MARGIN, heading, "group")
        on.y += 5
        for name, value in rows:
            middle = on.y + plot.ROW / 2
            on.elements.append(f'<rect x="{labels:.1f}" y="{middle - plot.BAR / 2:.1f}" width="{by.at(value):.1f}" height="{plot.BAR}" '
                               f'fill="{color_of(name)}"/>')
            on.y = middle + plot.FONT * 0.36
            on.text(labels - 8, shown_name(name), anchor="end")
            on.text(labels + by.at(value) + 8, plot.shown(value))
            on.y = middle + plot.ROW / 2
    on.y += 14
    on.paragraph(foot, "small", plot.FONT - 1)
    return on.drawn()


def counted(number, what):
    return f"{number} {what}{'s' if number > 1 else ''}"


def workers_said(workers):
    return counted(workers, "worker")


def groups_of(found, workload, point, names, value):
    """By number of workers; `value(row)` may be None."""
    groups = []
    for workers in found.workers():
        rows = [(name, drawn) for name in names if (drawn := value((workload, point, name, workers))) is not None]
        groups += [(workers_said(workers), rows)] * bool(rows)
    return groups


# --- curves -------------------------------------------------------------------------------------------------------------


class field:
    """From (how many, value) to px. x is logarithmic, as clients go from 64 to 10 000. `along`: what is counted there."""

    def __init__(self, curves, top, along):
        self.along = along
        self.counts = sorted({x for _, points in curves for x, _ in points})
        self.most = max(y for _, points in curves for _, y in points) * 1.05
        self.top = top

    def x(self, count):
        if len(self.counts) < 2:
            return LEFT
        return LEFT + WIDTH * math.log(count / self.counts[0]) / math.log(self.counts[-1] / self.counts[0])

    def y(self, value):
        return self.top + HEIGHT * (1 - value / self.most)


def draw_axes(on, by):
    step = plot.scale.step_below(by.most / 4)
    for n in range(int(by.most / step) + 1):
        on.line(LEFT, by.y(n * step), LEFT + WIDTH, by.y(n * step), "grid" if n else "axis")
        on.y = by.y(n * step) + 4
        on.text(LEFT - 8, plot.shown(n * step, by.most), "small", "end")
    for count in by.counts:
        on.line(by.x(count), by.top, by.x(count), by.top + HEIGHT, "grid")
        on.y = by.top + HEIGHT + 16
        on.text(by.x(count), str(count), "small", "middle")
    on.y = by.top + HEIGHT + 34
    on.text(LEFT + WIDTH / 2, f"{by.along}s, logarithmic", "small", "middle")


def draw_curves(on, by, curves):
    ends = []
    for name, points in curves:
        color = color_of(name)
        path = " ".join(f"{by.x(x):.1f},{by.y(y):.1f}" for x, y in points)
        on.elements.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')
        on.elements += [f'<circle cx="{by.x(x):.1f}" cy="{by.y(y):.1f}" r="3" fill="{color}"><title>'
                        f'{xml.sax.saxutils.escape(f"{shown_name(name)}, {counted(x, by.along)}: {plot.shown(y)}")}</title></circle>' for x, y in points]
        ends.append([by.y(points[-1][1]), name, color])
    # Labels at the ends, none over another.
    below = -math.inf
    for end in sorted(ends):
        below = max(end[0] + 4, below + APART)
        on.y = below
        on.elements.append(f'<rect x="{LEFT + WIDTH + 8}" y="{below - 9:.1f}" width="9" height="9" fill="{end[2]}"/>')
        on.text(LEFT + WIDTH + 22, shown_name(end[1]))
    return below


def curves_picture(title, said, curves, foot, along="client"):
    """`curves`: [(name, [(how many of `along`, value)])]."""
    if not curves:
        return ""
    labels = max(plot.width_of(shown_name(name)) for name, _ in curves)
    on = plot.canvas(0, LEFT + WIDTH + 22 + labels + plot.MARGIN)
    on.y += plot.FONT
    on.paragraph(title, "title", plot.FONT + 2)
    on.paragraph(said, "group", plot.FONT)
    by = field(curves, on.y + 4, along)
    draw_axes(on, by)
    lowest = draw_curves(on, by, curves)
    on.y = max(by.top + HEIGHT + 60, lowest + 24)
    on.paragraph(foot, "small", plot.FONT - 1)
    return on.drawn()


def curves_of(found, workload, files, names, workers, value):
    of = workloads.BY_KEY[workload]
    curves = []
    for name in names:
        points = [(at.clients, drawn) for at in of.points if at.files == files
                  and (drawn := value((workload, at.name(of), name, workers))) is not None]
        curves += [(name, points)] * bool(points)
    return curves


# --- the pictures -------------------------------------------------------------------------------------------------------

SMP, SMP_ALONE, MELY = contenders.SMP, contenders.SMP_ALONE, contenders.MELY
COLORINGS = (f"web-2003@{SMP}", f"web-2003@{SMP_ALONE}", "web-2003", "web-per-worker", "web-serial+copies")
SERVERS = (f"web-2003@{SMP}", "web-2003", "tartan-web", "tartan-web+copies", "apache-worker", "apache-prefork", "apache-event", "nginx", "h2o", "lighttpd",
           "beast-strand", "hyper", "floor")
BY_CLIENTS = (f"web-2003@{SMP}", "web-2003", "tartan-web", "nginx", "h2o", "lighttpd", "apache-event", "apache-worker", "beast-strand", "hyper", "floor")
MELY_CURVES = (f"web-sws@{MELY}", f"web-sws@{SMP}", f"web-sws@{SMP_ALONE}", "web-sws-serial+copies", "apache-worker", "tartan-web")
COSTS = ("h1", "h2", "h3", "h5", "h6")


def colorings(found, foot):
    """libasync-smp's figure 7."""
    serial = found.inverted_cost(("h3", "800", "web-serial", 1))
    value = (lambda row: found.inverted_cost(row) and found.inverted_cost(row) / serial) if serial else lambda row: None
    return bars("libasync-smp, figure 7: CPU cost, inverted, by that of the serial server on one CPU, H3", CPU,
                groups_of(found, "h3", "800", COLORINGS, value), foot)


def servers(found, foot):
    """libasync-smp's figure 8."""
    return bars("libasync-smp, figure 8: several web servers, H3, CPU cost, inverted", f"{CPU} N copies stand where the paper has Flash.",
                groups_of(found, "h3", "800", SERVERS, found.inverted_cost), foot)


def by_clients(found, foot, files):
    """libasync-smp's figure 9; over one file it is H4's other half."""
    workers = max(found.workers("h4"), default=1)
    over = "the files of H3" if files == "mix" else "one file of 1 KB"
    return curves_picture(f"libasync-smp, figure 9: CPU cost, inverted, by the number of clients, {over}, {workers_said(workers)}", CPU,
                          curves_of(found, "h4", files, BY_CLIENTS, workers, found.inverted_cost), foot)


def delays(found, foot):
    workers = max(found.workers("h4"), default=1)
    return curves_picture(f"H4: p99 of the latency by the number of clients, ms, the files of H3, {workers_said(workers)}",
                          "By the clock of the clients, who share the machine: the slower of two servers has them wait longer, the load is closed.",
                          curves_of(found, "h4", "mix", BY_CLIENTS, workers, lambda row: (found.median(row, "p99_us") or 0) / 1000 or None), foot)


def mely(found, foot):
    """Mely's figure 7, with figure 4 in it."""
    workers = max(found.workers("h2"), default=1)
    return curves_picture(f"Mely, figures 4 and 7: SWS, CPU cost, inverted, by the number of clients, H2, {workers_said(workers)}",
                          f"{CPU} N copies stand where the paper has userver.",
                          curves_of(found, "h2", "page", MELY_CURVES, workers, found.inverted_cost), foot)


def cost(found, foot, key):
    of = workloads.BY_KEY[key]
    point = of.points[0].name(of)
    value = lambda row: found.ratio(row, (key, point, contenders.FLOOR, row[3]), "cpu_us")  # noqa: E731
    return bars(f"{of.title}: processor time of the server per request, by the floor's", f"{of.points[0].clients} clients; less is better.",
                groups_of(found, key, point, contenders.ORDER, value), foot)


def write(found, foot_of, folder):
    """The pictures for which there are figures: [(title, path)]. `foot_of`: a workload's key -> what stands below."""
    h2, h3, h4 = (foot_of(key) for key in ("h2", "h3", "h4"))
    drawn = [("libasync-smp, figure 7", "web_smp_7", colorings(found, h3)), ("libasync-smp, figure 8", "web_smp_8", servers(found, h3)),
             ("libasync-smp, figure 9", "web_smp_9", by_clients(found, h4, "mix")),
             ("libasync-smp, figure 9, one file", "web_smp_9_page", by_clients(found, h4, "page")), ("H4, p99", "web_p99", delays(found, h4)),
             ("Mely, figures 4 and 7", "web_mely_7", mely(found, h2))]
    drawn += [(f"{key.upper()}, cost", f"web_{key}", cost(found, foot_of(key), key)) for key in COSTS]
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for title, name, text in drawn:
        if text:
            path = folder / f"{name}.svg"
            path.write_text(text, encoding="utf-8")
            written.append((title, path))
    return written
