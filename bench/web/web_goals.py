"""What the web server was to reach, beside what a run shows."""

import contenders
import workloads

FLOOR, OURS = contenders.FLOOR, contenders.OURS
RIVALS = [each.name for each in contenders.CONTENDERS if each.kind == "rival"]
SMALL = ("h1", "h2")
COLORED = (("web-2003", "web-serial"), ("web-per-worker", "web-serial"), ("web-sws", "web-sws-serial"), (OURS, f"{OURS}@serial"))
COPIED = ("h1", "h2", "h3", "h5", "h6")
PAPERS = (contenders.SMP, contenders.MELY)
HEAD = ["what", "where", "workers", "to reach", "reached", ""]
CORES_OF_MELY = 8


def number(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def line(what, where, workers, to_reach, reached, met):
    return [what, where, str(workers), to_reach, reached, "reached" if met else "**open**"]


def where(key, name):
    of = workloads.BY_KEY[key]
    return key.upper() + (f", {name} clients" if len(of.points) > 1 else "")


def cost_lines(found, key, names, most, rivals):
    """CPU per request, by the floor's and below these rivals'."""
    lines = []
    for name in names:
        for workers in found.workers():
            row = key, name, OURS, workers
            times = found.ratio(row, (key, name, FLOOR, workers), "cpu_us")
            if times is not None:
                lines.append(line("CPU per request, by the floor's", where(key, name), workers, f"<= {most:g}", number(times), times <= most))
            for rival in rivals:
                times = found.ratio(row, (key, name, rival, workers), "cpu_us")
                if times is not None:
                    lines.append(line(f"CPU per request, by {rival}'s", where(key, name), workers, "< 1", number(times), times < 1))
    return lines


def points_of(key, files=None):
    of = workloads.BY_KEY[key]
    return [at.name(of) for at in of.points if files in (None, at.files)]


def stands(found, files, name, workers):
    """What is left of the best throughput at 10 000 connections, in requests per second of server's processor time."""
    names = points_of("h4", files)
    reached = [found.capacity(("h4", at, name, workers)) for at in names]
    return reached[-1] / max(reached) if all(reached) else None


def many_connections(found):
    """H4's lines: over all its points, and at the last."""
    lines = []
    for files in ("mix", "page"):
        last = points_of("h4", files)[-1]
        for workers in found.workers():
            rows = [row for at in points_of("h4", files) if found.values(row := ("h4", at, OURS, workers), "jain")]
            if not rows:
                continue
            place = f"H4, {files}"
            for figure, what in (("errors", "errors"), ("starved", "starved clients")):
                most = max(max(found.values(row, figure)) for row in rows)
                lines.append(line(what + ", of all runs the most", place, workers, "0", number(most), most == 0))
            least = min(found.median(row, "jain") for row in rows)
            lines.append(line("Jain's index, at the worst point", place, workers, ">= 0.99", f"{least:.4f}", least >= 0.99))
            times = found.ratio(("h4", last, OURS, workers), ("h4", last, "nginx", workers), "p99_us")
            if times is not None:
                lines.append(line("p99, by nginx's", f"H4, {last} clients", workers, "<= 1", number(times), times <= 1))
            ours, floors = (stands(found, files, name, workers) for name in (OURS, FLOOR))
            if ours is not None and floors is not None:
                lines.append(line("throughput that is left at 10 000, by the best", place, workers, f">= {number(floors)}, the floor's", number(ours),
                                  ours >= floors))
    return lines


def colored(found):
    """Throughput of one worker, colored by the serial one's."""
    lines = []
    for key in COPIED:
        for name in points_of(key):
            for mine, serial in COLORED:
                times = found.ratio((key, name, serial, 1), (key, name, mine, 1), "cpu_us")
                if times is not None:
                    lines.append(line(f"{mine} by {serial}, throughput", where(key, name), 1, ">= 0.97", number(times), times >= 0.97))
    return lines


def copied(found):
    """CPU per request, by that of as many copies of ours."""
    lines = []
    for key in COPIED:
        for name in points_of(key):
            for workers in found.workers():
                times = found.ratio((key, name, OURS, workers), (key, name, f"{OURS}+copies", workers), "cpu_us")
                if times is not None:
                    lines.append(line("CPU per request, by N copies'", where(key, name), workers, "<= 1.05", number(times), times <= 1.05))
    return lines


def schedulers(found):
    """H2: the default one by the papers', and theirs by each other."""
    lines = []
    for name in points_of("h2"):
        for workers in found.workers():
            for paper in PAPERS:
                times = found.ratio(("h2", name, f"{OURS}@{paper}", workers), ("h2", name, OURS, workers), "cpu_us")
                if times is not None:
                    lines.append(line(f"throughput, by {contenders.NAMES[paper]}'s", where("h2", name), workers, ">= 1", number(times), times >= 1))
            for other, wanted in ((contenders.SMP_ALONE, 1.25), (contenders.SMP, 1.73)) if workers >= CORES_OF_MELY else ():
                times = found.ratio(("h2", name, f"web-sws@{other}", workers), ("h2", name, f"web-sws@{contenders.MELY}", workers), "cpu_us")
                if times is not None:
                    lines.append(line(f"web-sws on Mely, by {contenders.NAMES[other]}, throughput", where("h2", name), workers, f">= {wanted}", number(times),
                                      times >= wanted))
    return lines


def lines_of(found):
    """Rows of text; the first is the head."""
    lines = []
    for key in SMALL:
        lines += cost_lines(found, key, points_of(key), 1.2, ("nginx", "h2o"))
    lines += cost_lines(found, "h3", points_of("h3"), 1.4, ("nginx",))
    lines += many_connections(found)
    lines += cost_lines(found, "h5", points_of("h5"), 1.2, ())
    return [HEAD] + lines + colored(found) + copied(found) + schedulers(found)


def summary(lines, found):
    """A sentence or two on what these lines say."""
    said = f"{sum('open' not in each[5] for each in lines[1:])} of {len(lines) - 1} are reached; the others are open."
    if max(found.workers(), default=0) < CORES_OF_MELY:
        said += f" Mely's +25 % and +73 % over libasync-smp are of {CORES_OF_MELY} cores: a run with fewer workers says nothing of them."
    return said
