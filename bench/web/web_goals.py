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


def line(what, where, workers, to_reach, reached, met, sure=True):
    """`sure`: each round says the same."""
    return [what, where, str(workers), to_reach, reached, ("reached" if met else "**open**") + ("" if sure else ", not in each round")]


def asked_of(found, what, place, to_reach, value, met, *, mine, beside=None, rounds=()):
    """A line in a list, or none if there are no figures. What is asked of a server that failed there is open, whatever it did in rounds before."""
    asked = beside is None or beside in found.by_row or beside in found.failed
    if mine in found.failed and asked:
        return [line(what, place, mine[3], to_reach, "failed", False)]
    if value is None:
        return []
    apart = f" [{number(min(rounds))}, {number(max(rounds))}]" if len(set(rounds)) > 1 else ""
    return [line(what, place, mine[3], to_reach, number(value) + apart, met(value), all(met(each) == met(value) for each in rounds))]


def times_of(found, what, place, to_reach, met, mine, beside, inverted=False):
    """A line on the CPU per request of `mine` by that of another; inverted, the other way round."""
    rows = (beside, mine) if inverted else (mine, beside)
    return asked_of(found, what, place, to_reach, found.ratio(*rows, "cpu_us"), met, mine=mine, beside=beside,
                    rounds=found.ratios(*rows, "cpu_us"))


def where(key, name):
    of = workloads.BY_KEY[key]
    return key.upper() + (f", {name} clients" if len(of.points) > 1 else "")


def cost_lines(found, key, names, most, rivals):
    """CPU per request, by the floor's and below these rivals'."""
    lines = []
    for name in names:
        for workers in found.workers():
            row = key, name, OURS, workers
            lines += times_of(found, "CPU per request, by the floor's", where(key, name), f"<= {most:g}", lambda times: times <= most, row,
                              (key, name, FLOOR, workers))
            for rival in rivals:
                lines += times_of(found, f"CPU per request, by {rival}'s", where(key, name), "< 1", lambda times: times < 1, row,
                                  (key, name, rival, workers))
    return lines


def points_of(key, files=None):
    of = workloads.BY_KEY[key]
    return [at.name(of) for at in of.points if files in (None, at.files)]


def stands(found, files, name, workers):
    """What is left of the best inverted cost at 10 000 connections."""
    names = points_of("h4", files)
    reached = [found.inverted_cost(("h4", at, name, workers)) for at in names]
    return reached[-1] / max(reached) if all(reached) else None


def over_all_points(found, files, rows):
    """H4's lines on all points of these files. If ours failed at one of them, they are open."""
    mine = next((row for row in rows if row in found.failed), rows[0])
    place, workers = f"H4, {files}", mine[3]
    lines = []
    for figure, what in (("errors", "errors"), ("starved", "starved clients")):
        most = max((max(found.values(row, figure), default=0) for row in rows), default=0)
        lines += asked_of(found, what + ", of all runs the most", place, "0", most, lambda most: most == 0, mine=mine)
    least = min((found.median(row, "jain") for row in rows if found.values(row, "jain")), default=0)
    met = least >= 0.99 and mine not in found.failed
    lines.append(line("Jain's index, at the worst point", place, workers, ">= 0.99", "failed" if mine in found.failed else f"{least:.4f}", met))
    ours, floors = (stands(found, files, name, workers) for name in (OURS, FLOOR))
    if floors is not None:
        lines += asked_of(found, "CPU cost, inverted, that is left at 10 000, by the best", place, f">= {number(floors)}, the floor's", ours,
                          lambda ours: ours >= floors, mine=mine)
    return lines


def many_connections(found):
    """H4's lines: over all its points, and at the last."""
    lines = []
    for files in ("mix", "page"):
        last = points_of("h4", files)[-1]
        for workers in found.workers():
            rows = [row for at in points_of("h4", files) if found.values(row := ("h4", at, OURS, workers), "jain") or row in found.failed]
            if not rows:
                continue
            mine, rival = (("h4", last, name, workers) for name in (OURS, "nginx"))
            lines += over_all_points(found, files, rows)
            lines += asked_of(found, "p99, by nginx's", f"H4, {last} clients", "<= 1", found.ratio(mine, rival, "p99_us"), lambda times: times <= 1,
                              mine=mine, beside=rival, rounds=found.ratios(mine, rival, "p99_us"))
    return lines


def colored(found):
    """CPU cost, inverted, of one worker, colored by the serial one's."""
    lines = []
    for key in COPIED:
        for name in points_of(key):
            for mine, serial in COLORED:
                lines += times_of(found, f"{mine} by {serial}, CPU cost, inverted", where(key, name), ">= 0.97", lambda times: times >= 0.97,
                                  (key, name, mine, 1), (key, name, serial, 1), inverted=True)
    return lines


def copied(found):
    """CPU per request, by that of as many copies of ours."""
    lines = []
    for key in COPIED:
        for name in points_of(key):
            for workers in found.workers():
                lines += times_of(found, "CPU per request, by N copies'", where(key, name), "<= 1.05", lambda times: times <= 1.05,
                                  (key, name, OURS, workers), (key, name, f"{OURS}+copies", workers))
    return lines


def schedulers(found):
    """H2: the default one by the papers', and theirs by each other."""
    lines = []
    for name in points_of("h2"):
        for workers in found.workers():
            for paper in PAPERS:
                lines += times_of(found, f"CPU cost, inverted, by {contenders.NAMES[paper]}'s", where("h2", name), ">= 1", lambda times: times >= 1,
                                  ("h2", name, OURS, workers), ("h2", name, f"{OURS}@{paper}", workers), inverted=True)
            for other, wanted in ((contenders.SMP_ALONE, 1.25), (contenders.SMP, 1.73)) if workers >= CORES_OF_MELY else ():
                lines += times_of(found, f"web-sws on Mely, by {contenders.NAMES[other]}, CPU cost, inverted", where("h2", name), f">= {wanted}",
                                  lambda times, wanted=wanted: times >= wanted, ("h2", name, f"web-sws@{contenders.MELY}", workers),
                                  ("h2", name, f"web-sws@{other}", workers), inverted=True)
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
    met = [each[5] for each in lines[1:] if "open" not in each[5]]
    missed = [each[5] for each in lines[1:] if "open" in each[5]]
    said = (f"{len(met)} of {len(lines) - 1} are reached, {met.count('reached')} of them in each round; {len(missed)} are open, "
            f"{missed.count('**open**')} of them in each round. The rest is within what the rounds are apart: longer ones may decide it.")
    if max(found.workers("h2"), default=0) < CORES_OF_MELY:
        said += f" Mely's +25 % and +73 % of throughput over libasync-smp are of {CORES_OF_MELY} cores: a run with fewer workers says nothing of them."
    return said
