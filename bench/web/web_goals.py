"""What the web server was to reach, beside what a run shows."""

import statistics

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


def asked_of(found, what, place, to_reach, value, met, *, mine, beside=None, rounds=(), text=number):
    """A line in a list, or none if there are no figures. What is asked of a server that failed there is open, whatever it did in rounds before.

    `rounds`: the value in each of them."""
    asked = beside is None or beside in found.by_row or beside in found.failed
    if mine in found.failed and asked:
        return [line(what, place, mine[3], to_reach, "failed", False)]
    if value is None:
        return []
    apart = f" [{text(min(rounds))}, {text(max(rounds))}]" if len(set(rounds)) > 1 else ""
    return [line(what, place, mine[3], to_reach, text(value) + apart, met(value), all(met(each) == met(value) for each in rounds))]


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


def stands(found, files, workers):
    """What is left of the best inverted cost at 10 000 connections, by what the floor has left, in each round that has all points."""
    rows = [("h4", at, name, workers) for name in (OURS, FLOOR) for at in points_of("h4", files)]
    half = len(rows) // 2
    rounds = [(costs[:half], costs[half:]) for costs in found.by_round(rows, "cpu_us") if all(costs)]
    return [(min(ours) / ours[-1]) / (min(floors) / floors[-1]) for ours, floors in rounds]


def over_all_points(found, files, rows):
    """H4's lines on all points of these files. If ours failed at one of them, they are open."""
    mine = next((row for row in rows if row in found.failed), rows[0])
    place, workers = f"H4, {files}", mine[3]
    lines = []
    for figure, what in (("errors", "errors"), ("starved", "starved clients")):
        most = max((max(found.values(row, figure), default=0) for row in rows), default=0)
        lines += asked_of(found, what + ", of all runs the most", place, "0", most, lambda most: most == 0, mine=mine)
    rounds = [min(each) for each in found.by_round([row for row in rows if row not in found.failed], "jain")]
    lines += asked_of(found, "Jain's index, at the worst point", place, ">= 0.99", statistics.median(rounds) if rounds else 0,
                      lambda least: least >= 0.99, mine=mine, rounds=rounds, text=lambda jain: f"{jain:.4f}")
    rounds = stands(found, files, workers)
    if rounds:
        lines += asked_of(found, "CPU cost, inverted, that is left at 10 000 of the best, by the floor's", place, ">= 1", statistics.median(rounds),
                          lambda times: times >= 1, mine=mine, rounds=rounds)
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


def groups_of(found):
    """[(what is asked, its lines)], as it was asked."""
    small = [line for key in SMALL for line in cost_lines(found, key, points_of(key), 1.2, ("nginx", "h2o"))]
    groups = [("H1, H2: at most 1.2 x the floor, below nginx and h2o", small),
              ("H3: at most 1.4 x the floor, below nginx", cost_lines(found, "h3", points_of("h3"), 1.4, ("nginx",))),
              ("H4: no error, nobody starved, Jain's index, p99, what is left at 10 000", many_connections(found)),
              ("H5: at most 1.2 x the floor", cost_lines(found, "h5", points_of("h5"), 1.2, ())),
              ("one worker, colored, by serial", colored(found)),
              ("several workers by copies", copied(found)),
              ("the default scheduler by the papers', on H2", schedulers(found))]
    return [(what, lines) for what, lines in groups if lines]


def lines_of(found):
    """Rows of text; the first is the head."""
    return [HEAD] + [line for _, lines in groups_of(found) for line in lines]


def counts_of(lines):
    """[reached, of them in each round, open, of them in each round]."""
    met = [each[5] for each in lines if "open" not in each[5]]
    missed = [each[5] for each in lines if "open" in each[5]]
    return [len(met), met.count("reached"), len(missed), missed.count("**open**")]


def overview(found):
    """Rows of text, one for each thing that is asked; the first is the head."""
    return [["what is asked", "reached", "in each round", "open", "in each round"]] + [
        [what, *map(str, counts_of(lines))] for what, lines in groups_of(found)]


def summary(lines, found):
    """A sentence or two on what these lines say."""
    met, sure, missed, surely = counts_of(lines[1:])
    said = f"{met} of {len(lines) - 1} are reached, {sure} of them in each round; {missed} are open, {surely} of them in each round."
    if max((len(runs) for runs in found.by_row.values()), default=0) < 2:
        said = f"{met} of {len(lines) - 1} are reached, {missed} are open, by one round: it says nothing of chance."
    elif sure + surely < len(lines) - 1:
        said += " The rest is within what the rounds are apart: longer ones may decide it."
    if max(found.workers("h2"), default=0) < CORES_OF_MELY:
        said += f" Mely's +25 % and +73 % of throughput over libasync-smp are of {CORES_OF_MELY} cores: a run with fewer workers says nothing of them."
    return said
