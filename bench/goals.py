"""What the project set out to reach, beside what a run shows: by strand, and by value at most twice the time."""

import plan
from table import number

RIVALS = ("mutex_pool", "asio_strand", "asio_context", "tbb_node", "caf_actor", *plan.RIVALS)
BATCHES = (*RIVALS, "mutex_pool+batch")
PAPERS_ORDER = ("shared_queue", "per_worker:no-stealing,no-freelists", "per_worker:no-stealing", "per_worker")


class measured:
    """Figures of one program of ours, `tartan_strand` or `tartan_value`; None where the run has no such row."""

    def __init__(self, found, program):
        self.found = found
        self.program = program
        self.workers = max((row[2] for row in found.by_row if row[0] != "w10"), default=1)  # W10 has 4, whatever there is

    def row(self, key, workers, variant=""):
        return key, self.program + variant, workers

    def median(self, key, figure, workers, variant=""):
        return self.found.median(self.row(key, workers, variant), figure)

    def cost_of(self, key, figure, workers, other, other_workers=None, variant="", more_is_better=False):
        """Time as a multiple of that of `other`, by round."""
        mine = self.row(key, workers, variant)
        if mine not in self.found.by_row:
            return None
        times = self.found.ratio(mine, (key, other, other_workers or workers), figure, more_is_better)
        return None if times is None else 1 / times

    def cost_of_best(self, key, figure, workers, rivals=RIVALS, variant="", more_is_better=False):
        """The same, of whoever is best, and who that is."""
        costs = [(self.cost_of(key, figure, workers, rival, None, variant, more_is_better), rival) for rival in rivals]
        return max(((cost, rival) for cost, rival in costs if cost is not None), default=None)


def at_most(what, limit, strand, value, twice=True):
    """A row: the question, what is to be reached, both figures, each with its verdict. A figure is a number, or (number, of whom)."""
    cells = []
    for figure, bound in ((strand, limit), (value, 2 * limit if twice else limit)):
        figure, of_whom = figure if isinstance(figure, tuple) else (figure, "")
        cells.append("" if figure is None else f"{number(figure)}{f' ({of_whom})' if of_whom else ''}: {'reached' if figure <= bound else '**open**'}")
    return [what, f"<= {number(limit)}{f'; by value {number(2 * limit)}' if twice and value is not None else ''}", *cells]


def at_least(what, limit, strand, value):
    cells = ["" if figure is None else f"{number(figure)}: {'reached' if figure >= limit else '**open**'}" for figure in (strand, value)]
    return [what, f">= {number(limit)}", *cells]


def papers_order(found):
    rates = [found.median(("w10", f"{plan.PAPERS_PROGRAM}@{name}", 4), "tasks_per_s") for name in PAPERS_ORDER]
    if None in rates:
        return []
    verdict = "reached" if rates == sorted(rates) else "**open**"
    shown = " < ".join(f"{rate / 1e6:.2f} M" for rate in rates)
    return [["W10, 4 workers: the order of table 2", "one queue < queues < free lists < stealing", f"{shown}: {verdict}", ""]]


def sum_of(one, other):
    return None if one is None or other is None else one + other


def lines_of(found):
    """Rows of text; the first is the head. Rows without any figure are left out."""
    by = [measured(found, "tartan_strand"), measured(found, "tartan_value")]
    n = by[0].workers

    def each(figure):
        return [figure(ours) for ours in by]

    loop_event = found.median(("w1", plan.FLOOR, 1), "ns_per_event")
    schedulers = [f"{plan.PAPERS_PROGRAM}@{name}" for name in plan.PAPERS]
    rows = [
        at_most("W1, 1 worker: time of an event by the loop's", 1.3, *each(lambda own: own.cost_of("w1", "ns_per_event", 1, plan.FLOOR))),
        at_most(f"W1, {n} workers: by the loop's", 0.75, *each(lambda own: own.cost_of("w1", "ns_per_event", n, plan.FLOOR, 1))),
        at_most(f"W1, {n} workers: by the best rival's", 0.3, *each(lambda own: own.cost_of_best("w1", "ns_per_event", n))),
        at_least(f"W1, {n} workers: the first chain ends at", 0.8, *each(lambda own: own.median("w1", "first_chain_ends_at", n))),
        at_most(f"W2, {n} workers: by the best rival's", 0.7, *each(lambda own: own.cost_of_best("w2", "ns_per_event", n))),
        at_most(f"W2, {n} workers, batches: by the best rival's", 0.3,
                *each(lambda own: own.cost_of_best("w2", "ns_per_event", n, variant="+batch", rivals=BATCHES))),
        at_most("W3, 1 worker: by the best rival's", 0.3, *each(lambda own: own.cost_of_best("w3", "ns_per_event", 1))),
        at_most(f"W3, {n} workers: by the best rival's", 0.3, *each(lambda own: own.cost_of_best("w3", "ns_per_event", n))),
        at_least(f"W4, {n} workers: share of the ideal", 0.88, *each(lambda own: own.median("w4", "share_of_ideal", n))),
        at_most(f"W4, {n} workers: by stealing off", 1 / 1.6,
                *each(lambda own: own.cost_of("w4", "kilo_events_per_s", n, own.program + "+no_steal", more_is_better=True)), twice=False),
        at_most("W5: bytes of a color, by strand", 64, by[0].median("w5", "bytes_per_color", 1), None, twice=False),
        at_most("W5: bytes of a color, by value", 1, None, by[1].median("w5", "bytes_per_color", 1), twice=False),
        at_least(f"W6, {n} workers: share of the bound", 0.95, *each(lambda own: own.median("w6", "share_of_bound", n))),
        at_most(f"W6, {n} workers: others' p99 delay by the ideal one", 3, *each(lambda own: own.median("w6", "cold_p99_vs_ideal", n)), twice=False),
        at_most(f"W7, {n} workers: a color by the loop's event in W1", 8,
                *each(lambda own: loop_event and own.median("w7", "ns_per_color", n) and own.median("w7", "ns_per_color", n) / loop_event)),
        at_most(f"W7, {n} workers: by stealing off", 1.1, *each(lambda own: own.cost_of("w7", "ns_per_color", n, own.program + "+no_steal")), twice=False),
    ]
    for key, figure, more in (("w4", "kilo_events_per_s", True), ("w8", "ns_per_a", False), ("w9", "ns_per_a", False)):
        best = each(lambda own, key=key, figure=figure, more=more: own.cost_of_best(key, figure, n, schedulers, more_is_better=more))
        best = [cost and (cost[0], cost[1].partition("@")[2]) for cost in best]
        rows.append(at_most(f"{key.upper()}, {n} workers: by the best of the papers'", 1, *best, twice=False))
    rows += papers_order(found)
    rows.append(at_most("W11: ns to set and cancel a timer (libasync's with 1000 pending)", 85,
                        *each(lambda own: sum_of(own.median("w11", "ns_per_set", 1), own.median("w11", "ns_per_cancel", 1)))))
    return [["question", "to be reached", "by strand", "by value"]] + [row for row in rows if any(row[2:])]


NAMES = {"tokio_task": "tokio", "go_goroutine": "Go", "mutex_pool": "a pool with one mutex", "tbb_node": "oneTBB", "caf_actor": "CAF", "asio_strand": "Asio",
         "asio_context": "Asio"}


def times_of(ours, key, workers):
    """A cell: ns, and how many times as fast as whom; None if the run lacks one of them."""
    asio, best = ours.cost_of(key, "ns_per_event", workers, plan.BASE), ours.cost_of_best(key, "ns_per_event", workers)
    if asio is None or best is None:
        return None
    return [f"{ours.median(key, 'ns_per_event', workers):.0f} ns", f"{1 / asio:.2g}", f"{1 / best[0]:.2g} ({NAMES[best[1]]})"]


def headline(found, rounds, cores):
    """What README.md says: a sentence, and rows of text; None if the run lacks something of it."""
    ours = measured(found, "tartan_strand")
    lines = [["", "workers", "by strand", "times as fast as an Asio strand", "as the best other that has colors or the like"]]
    for key, what in (("w1", "an event that posts its successor"), ("w3", "a hop between two colors")):
        for workers in dict.fromkeys((1, ours.workers)):
            cells = times_of(ours, key, workers)
            if cells is None or not any(rival in row for row in found.by_row for rival in plan.RIVALS):
                return None
            lines.append([what, str(workers), *cells])
    return (f"Medians of {rounds} interleaved rounds on a shared machine with {cores} cores, all in the same run. The ratios say more than the times. "
            "[docs/benchmarks.md](docs/benchmarks.md) has every row, those that we lose included."), lines
