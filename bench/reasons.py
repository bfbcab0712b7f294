"""Why aims of bench/goals.py are open: what each would need, and what forbids it here. Figures are those of the run that is shown,
or of the one that is named."""

import json
import pathlib
import re
import statistics

import goals
import plan
import table
from table import number

HEAD = ["question", "it would need", "what forbids it here"]
UNKNOWN = "not looked into"
RESULTS = pathlib.Path(__file__).resolve().parent / "results"


class figures:
    """Of one run, as text."""

    def __init__(self, found):
        self.found = found
        self.strand = goals.measured(found, "tartan_strand")
        self.value = goals.measured(found, "tartan_value")
        self.n = self.strand.workers

    def values(self, key, contender, figure, workers):
        """LookupError where the run has no such row."""
        values = self.found.values((key, contender, workers), figure)
        if not values:
            raise LookupError(f"{key} {contender} with {workers}")
        return values

    def median(self, key, contender, figure, workers):
        return statistics.median(self.values(key, contender, figure, workers))

    def said(self, key, contender, figure, workers):
        return number(self.median(key, contender, figure, workers))

    def best(self, key, workers, **which):
        """(rival, its ns per event): the one that is best round by round."""
        _, rival = self.strand.cost_of_best(key, "ns_per_event", workers, **which) or (0, "any rival")
        return rival, self.median(key, rival, "ns_per_event", workers)

    def spin_and_rest(self, contender):
        """Of W4 on one worker: ns of an event's spin, and ns of everything else."""
        ideal, real = (self.median("w4", contender, name, 1) for name in ("ideal_kilo_events_per_s", "kilo_events_per_s"))
        return 1e6 / ideal, 1e6 / real - 1e6 / ideal


def of_w1(run):
    rival, ns = run.best("w1", run.n)
    loop = run.values("w1", plan.FLOOR, "ns_per_event", 1)
    return (f"{number(0.3 * ns)} ns, 0.3 of {rival}'s {number(ns)}: {number(0.3 * ns * run.n)} ns of an event on each worker",
            f"the plain loop takes {number(statistics.median(loop))}, {number(min(loop))} at its fastest, and Tartan on one worker "
            f"{run.said('w1', 'tartan_strand', 'ns_per_event', 1)}: {run.n} workers together can be {run.n} times as fast as that, and no more")


def of_w2(run):
    rival, ns = run.best("w2", run.n)
    values = run.values("w2", rival, "ns_per_event", run.n)
    return (f"0.7 of the best, round by round: {rival}, {number(ns)} ns, which varies from {number(min(values))} to {number(max(values))}",
            "most of the worker's time is the first touch of the event, whose line is the posting thread's ([profile](profiles.md)); the color's line and "
            "the way back of the "
            f"event's memory are two more. The loop with a mutex takes {run.said('w2', plan.FLOOR, 'ns_per_event', 1)}")


def of_batches(run):
    rival, ns = run.best("w2", run.n, variant="+batch", rivals=goals.BATCHES)
    return (f"{number(0.3 * ns)} ns, 0.3 of {rival}'s {number(ns)}",
            "one line for each event crosses over, as above: 50 to 100 ns, and the aim is at that floor")


def of_w3(run):
    (one, one_ns), (all_, all_ns) = run.best("w3", 1), run.best("w3", run.n)
    return (f"by strand {number(0.3 * one_ns)} ns on one worker, 0.3 of {one}'s {number(one_ns)}, and {number(0.3 * all_ns)} on {run.n}, 0.3 of {all_}'s "
            f"{number(all_ns)}",
            f"the plain loop, which has no colors, takes {run.said('w3', plan.FLOOR, 'ns_per_event', 1)}. A hop is a post to an idle color, a run "
            "([instructions of both](../tests/gate/instructions.json)), a turn, and going idle, without a read-modify-write. By value a third to half of "
            "the time is in the table of colors ([profile](profiles.md)), whose entry is made and removed at each hop, for the color is idle in between")


def of_w4(run):
    spin, _ = run.spin_and_rest("tartan_strand")
    return (f"{number(spin / 0.88 - spin)} ns for post and run of an event beside its spin of {number(spin)}",
            f"the plain loop takes {number(run.spin_and_rest(plan.FLOOR)[1])}, in order through 3 MB. 50 000 events and strands are 6.4 MB, and for each that "
            "is stolen two lines cross over: 50 to 100 ns on average. On one worker Tartan reaches "
            f"{run.said('w4', 'tartan_strand', 'share_of_ideal', 1)}, so with {run.n} no more")


def of_w5(run):
    floor = 72
    rest = run.median("w5", "tartan_strand", "bytes_per_color", 1) - floor
    return ("64 bytes, handle included",
            f"a color's state is a cache line of its own, so that two workers never share one, and the handle has 8 bytes: {floor} is the floor. The other "
            f"{number(rest)} are what a run touches besides: of the pool's blocks the last is not full, and the allocator has its own")


def of_w6(run):
    """At full length, as it was run last."""
    runs = {file.name: json.loads(file.read_text()) for file in RESULTS.glob("*-w6.json")}
    if not runs:
        raise LookupError("no run of w6 alone")
    name, kept = max(runs.items(), key=lambda each: each[1]["circumstances"]["date"])
    found = table.results(kept["runs"])
    strand, value = (("w6", contender, run.n) for contender in ("tartan_strand", "tartan_value"))
    shares = found.values(strand, "share_of_bound")
    if not shares:
        raise LookupError(f"w6 with {run.n}")
    link = f"[a run of {kept['circumstances']['commit']}](../bench/results/{name})"
    p99 = [number(found.median(row, "cold_p99_vs_ideal")) for row in (strand, value)]
    return ("0.95 of the bound",
            f"in a short run a good part is over before the hot color and the others have parted. At full length ({link}) "
            f"{number(statistics.median(shares))} [{number(min(shares))}, {number(max(shares))}] and by value {number(found.median(value, 'share_of_bound'))}, "
            f"with a p99 of {p99[0]} and {p99[1]} times the ideal one")


def of_w7(run):
    on, off = (run.values("w7", contender, "ns_per_color", run.n) for contender in ("tartan_strand", "tartan_strand+no_steal"))
    steals, each = (run.said("w7", "tartan_strand", name, run.n) for name in ("steals", "ns_per_steal"))
    return ("1.1 of the time without stealing",
            "the idle worker looks at the maker some 2 400 times a second, which contract 7 asks for: timed sleeps of the kernel, which cost it 6 % of "
            "its CPU, by user and system time, whatever it looks at (without its second looks the same), and so slow down a worker that shares a core "
            f"with it. The rest is the machine's noise: {len(on)} runs of each, {number(min(on))} to {number(max(on))} ns with stealing and "
            f"{number(min(off))} to "
            f"{number(max(off))} without; with it a run has {steals} steals, of {each} ns each. The gate's row of W7, which pairs both more often, says more")


def of_w9(run):
    schedulers = [f"{plan.PAPERS_PROGRAM}@{name}" for name in plan.PAPERS]
    costs = [(how, ours.cost_of_best("w9", "ns_per_a", run.n, schedulers)) for how, ours in (("by strand", run.strand), ("by value", run.value))]
    less = [f"{how} {100 * (1 - 1 / cost[0]):.0f} % less" for how, cost in costs if cost and cost[0] > 1]
    return (", ".join(less),
            "a round takes a millisecond or two. Mely's thief takes a color as soon as one waits, a steal each, and never sleeps; the default's sleeps between "
            "two rounds, for 0.1 ms, and then watches its victim for 40 us. That is what spares short events its steals")


def of_w4_by_papers(_):
    return ("by value what the papers' schedulers take by strand",
            "a new color by value is looked up, made, found by its thief, and removed from the table when it has run, each with lines of its own; the papers' "
            "rows are of strands, which there are numbers of classes that are never made")


def of_w10(run):
    of, over = (("w10", f"{plan.PAPERS_PROGRAM}@{name}", 2) for name in ("per_worker", "per_worker:no-stealing"))
    ratio = run.found.ratio(of, over, "tasks_per_s", True) if of in run.found.by_row else None
    if ratio is None:
        raise LookupError("w10 with 2")
    return ("stealing faster with 4 workers",
            f"two cores: none is idle without stealing. With 2 workers stealing gives {number(ratio)} times as many tasks (the paper, with 4 on 4 CPUs: 1.31)")


def of_w11(run):
    each = [run.median("w11", "tartan_strand", name, 1) for name in ("ns_per_set", "ns_per_cancel")]
    timers = run.said("w11", "tartan_strand", "timers", 1)
    return (f"85 ns for set and cancel of one of {timers}, libasync's for 1000 that lie in its cache",
            f"{number(each[0])} of the {number(sum(each))} ns are the set, which here makes the timer: its memory, a page fault for each 20 or so, the clock, "
            f"the wheel's slot. To cancel takes {number(each[1])}")


# By how the rows of goals.py begin: whose they are, as a heading, and the reason.
REASONS = ((r"W1, \d+ workers: by the best rival's", "W1, by the best rival's", of_w1), (r"W2, \d+ workers: ", "W2, singly", of_w2),
           (r"W2, \d+ workers, batches", "W2, batches", of_batches), (r"W3, ", "W3", of_w3), (r"W4, \d+ workers: share", "W4", of_w4),
           (r"W5: .* by strand", "W5", of_w5), (r"W6, .* share of the bound", "W6", of_w6), (r"W6, .* p99", "W6", of_w6),
           (r"W7, .* stealing off", "W7, by stealing off", of_w7),
           (r"W4, .* the papers'", "W4, by the papers'", of_w4_by_papers),
           (r"W9, .* the papers'", "W9, by the papers'", of_w9), (r"W10, .* order", "W10, the order", of_w10), (r"W11: ", "W11", of_w11))


def reason_of(what, run):
    for pattern, heading, reason in REASONS:
        if re.match(pattern, what):
            try:
                return heading, *reason(run)
            except LookupError:
                return heading, "", "this run has not the rows that would tell"
    return what, "", UNKNOWN


def lines_of(found):
    """Rows of text, for each aim that is open; the first is the head."""
    run = figures(found)
    is_open = [row[0] for row in goals.lines_of(found)[1:] if any("**open**" in cell for cell in row[2:])]
    rows = [reason_of(what, run) for what in is_open]
    return [HEAD] + [list(row) for row in dict.fromkeys(rows)]
