"""The tables of docs/papers.md: what the papers print, and beside it what a record of bench/run has, and the simulation."""

import dataclasses
import json
import pathlib

import passage
import plan
import table

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "papers.md"
SIMULATED = ROOT / "simulation" / "results.json"
MARKS = ("<!-- papers {}: begin (written by bench/run --docs) -->", "<!-- papers {}: end -->")
CYCLES_PER_NS = 2.33  # Mely, V.A
MELY = ("mely_8", 8)  # the machine of its tables in simulation/machines.py, and its cores


@dataclasses.dataclass(frozen=True)
class row:
    label: str  # the paper's; empty: it has no such row
    ours: str  # the contender in the record, without the program: "@scheduler", "+variant", or nothing: the default
    paper: tuple = ()  # figures, by column; None: the paper has none

    def name(self):
        return {"": "default", "+told": "default, told", "+no_steal": "default, no stealing"}.get(self.ours, self.ours[1:])

    def simulated(self):
        return {"": "default", "+told": "default:told", "+no_steal": "default:no-stealing"}.get(self.ours, self.ours[1:])


@dataclasses.dataclass(frozen=True)
class column:
    """Two cells of each row, or one if the paper has nothing like it."""
    heading: str
    figure: str  # name in JSON; "misses": simulated
    unit: str = ""  # how it is shown: "", "share", or "cycles", which the paper prints and we have in ns
    workers: int = 0  # 0: all, or one if the scheduler has no more
    papers: bool = True


OTHERS = (row("", "@shared_queue"), row("", "@serial"), row("", ""), row("", "+told"), row("", "+no_steal"))
SPEED = column("KEvents/s", "kilo_events_per_s")
MISSES = column("misses per event", "misses")

# question: (paper, columns, rows)
TABLES = {
    "w4": ("Mely", (SPEED, column("in locks", "lock_share", "share"), column("ns per steal", "ns_per_steal", "cycles"),
                    column("ns that it brought", "stolen_run_ns", "cycles")),
           (row("Libasync-smp", "@per_worker:no-stealing", (1310, 0.0093)), row("Libasync-smp - WS", "@per_worker", (122, 0.3973, 28329, 484)),
            row("Mely", "@color_queues:no-stealing", (1265, 0.0089)), row("Mely - base WS", "@color_queues:base", (1195, 0.0142, 2261, 445)),
            row("Mely - time-aware WS", "@color_queues:time-left", (2042, None, None, 49987)), row("", "@color_queues:penalty"),
            row("", "@color_queues:locality"), row("", "@color_queues"), *OTHERS)),
    "w8": ("Mely", (SPEED, MISSES),
           (row("Libasync-smp", "@per_worker:no-stealing", (1103, 29)), row("Libasync-smp - WS", "@per_worker", (190, 167_000)),
            row("", "@color_queues:no-stealing"), row("Mely - base WS", "@color_queues:base", (1386, 42_000)),
            row("Mely - penalty-aware WS", "@color_queues:penalty", (2122, 2_000)), row("", "@color_queues:time-left"),
            row("", "@color_queues:locality"), row("", "@color_queues"), *OTHERS)),
    "w9": ("Mely", (SPEED, MISSES),
           (row("Libasync-smp", "@per_worker:no-stealing", (1156, 0)), row("Libasync-smp - WS", "@per_worker", (1497, 13)),
            row("", "@color_queues:no-stealing"), row("Mely - base WS", "@color_queues:base", (1426, 12)),
            row("Mely - locality-aware WS", "@color_queues:locality", (1869, 2)), row("", "@color_queues:time-left"),
            row("", "@color_queues:penalty"), row("", "@color_queues"), *OTHERS)),
    "w10": ("libasync-smp", (column("tasks/s, 4 workers", "tasks_per_s", workers=4), column("2 workers", "tasks_per_s", workers=2, papers=False),
                             column("1 worker", "tasks_per_s", workers=1, papers=False)),
            (row("Base", "@shared_queue", (61_420,)), row("+ Per-thread Queues", "@per_worker:no-stealing,no-freelists", (240_618,)),
             row("+ Per-thread Task Object Freelists", "@per_worker:no-stealing", (293_997,)), row("+ Work Stealing", "@per_worker", (384_765,)),
             row("", "@color_queues:no-stealing"), row("", "@color_queues:base"), row("", "@color_queues"), row("", "@serial"), row("", ""),
             row("", "+no_steal"))),
}

# question: (what is gained, the row that has it, the row that has not). Ratios by round; the paper's of its first column.
DEFAULT_GAINS = (("the default's stealing", "", "+no_steal"), ("what the default is told", "+told", ""))
GAINS = {
    "w4": (("libasync-smp's stealing", "@per_worker", "@per_worker:no-stealing"), ("Mely's base stealing", "@color_queues:base", "@color_queues:no-stealing"),
           ("time-left, over base", "@color_queues:time-left", "@color_queues:base"),
           ("time-left, over none", "@color_queues:time-left", "@color_queues:no-stealing"), *DEFAULT_GAINS),
    "w8": (("libasync-smp's stealing", "@per_worker", "@per_worker:no-stealing"), ("Mely's base stealing", "@color_queues:base", "@color_queues:no-stealing"),
           ("penalty, over base", "@color_queues:penalty", "@color_queues:base"),
           ("penalty, over time-left", "@color_queues:penalty", "@color_queues:time-left"), *DEFAULT_GAINS),
    "w9": (("libasync-smp's stealing", "@per_worker", "@per_worker:no-stealing"), ("Mely's base stealing", "@color_queues:base", "@color_queues:no-stealing"),
           ("locality, over base", "@color_queues:locality", "@color_queues:base"), *DEFAULT_GAINS),
    "w10": (("a queue for each worker", "@per_worker:no-stealing,no-freelists", "@shared_queue"),
            ("free lists", "@per_worker:no-stealing", "@per_worker:no-stealing,no-freelists"), ("stealing", "@per_worker", "@per_worker:no-stealing"),
            DEFAULT_GAINS[0]),
}


def shown(value, unit=""):
    if value is None:
        return ""
    if unit == "share":
        return f"{100 * value:.3g} %"
    if value >= 1e5:
        return f"{value / 1e6:.3g} M"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def of_paper(value, unit):
    if value is None or unit == "share":
        return shown(value, unit)
    return f"{shown(value / CYCLES_PER_NS)} ({value} cycles)" if unit == "cycles" else str(value)


def median_of(found, key, column):
    """The median, with the ends if there are several. Nothing of steals where there were none."""
    values = found.values(key, column.figure)
    if not values or (column.unit == "cycles" and max(values) == 0):
        return ""
    ends = f" ({shown(min(values), column.unit)} to {shown(max(values), column.unit)})" if max(values) > min(values) else ""
    return shown(found.median(key, column.figure), column.unit) + ends


def misses_of(simulated, question, scheduler):
    each = simulated.get((MELY[0], question, scheduler, MELY[1]))
    return shown(each["misses"] / each["checked"]) if each else ""


def cells_of(found, simulated, question, row, all_workers):
    """Cells of one row; None if the record has no such row."""
    contender = plan.PAPERS_PROGRAM + row.ours
    _, columns, _ = TABLES[question]
    cells, any_ours = [], False
    for place, each in enumerate(columns):
        workers = each.workers or (1 if row.ours == "@serial" else all_workers)
        key = (question, contender, workers)
        any_ours = any_ours or key in found.by_row
        if each.papers:
            cells.append(of_paper(row.paper[place] if place < len(row.paper) else None, each.unit))
        cells.append(misses_of(simulated, question, row.simulated()) if each is MISSES else median_of(found, key, each))
    return cells if any_ours else None


def head_of(question):
    paper, columns, _ = TABLES[question]
    cells = [paper, "here"]
    for each in columns:
        ours = "simulated, 8 cores" if each is MISSES else "here"
        cells += [f"{each.heading}: {paper}", ours] if each.papers else [each.heading]
    return cells


def lines_of(found, simulated, question, all_workers):
    """The table, as markdown; a row that the record lacks is left out."""
    lines = [head_of(question)]
    for each in TABLES[question][2]:
        cells = cells_of(found, simulated, question, each, all_workers)
        if cells is not None:
            lines.append([each.label, f"`{each.name()}`" + (", 1 worker" if each.ours == "@serial" else "")] + cells)
    return table.markdown(lines)


def fastest_of(found, question, workers):
    """The papers' row of the highest median, with that many workers, or of serial."""
    figure = TABLES[question][1][0].figure
    keys = [(question, plan.PAPERS_PROGRAM + each.ours, 1 if each.ours == "@serial" else workers) for each in TABLES[question][2] if "@" in each.ours]
    return max((key for key in keys if key in found.by_row), key=lambda key: found.median(key, figure), default=None)


def gains_of(found, question, workers):
    """Cells of the paper and of this record, by what is gained."""
    paper = {each.ours: each.paper[0] for each in TABLES[question][2] if each.paper}
    figure, gains = TABLES[question][1][0].figure, {}
    for what, of, over in GAINS[question]:
        row, base = ((question, plan.PAPERS_PROGRAM + name, workers) for name in (of, over))
        if row in found.by_row and base in found.by_row:
            gains[what] = (f"x {paper[of] / paper[over]:.3g}" if of in paper and over in paper else "", found.ratio(row, base, figure, True))
    best, own = fastest_of(found, question, workers), (question, plan.PAPERS_PROGRAM, workers)
    if best and own in found.by_row:
        gains[f"the default, over the papers' fastest here, `{best[1].split('@')[1]}`"] = ("", found.ratio(own, best, figure, True))
    return {what: (theirs, f"x {ours:.3g}") for what, (theirs, ours) in gains.items()}


def lines_of_gains(found, question, all_workers):
    """The second table: ratios, which is what may be compared."""
    numbers = (4, 2) if question == "w10" else (all_workers,)
    columns = [gains_of(found, question, workers) for workers in numbers]
    lines = [["gain", TABLES[question][0]] + [f"here, {workers} workers" for workers in numbers]]
    for what in dict.fromkeys(what for column in columns for what in column):
        theirs = next(column[what][0] for column in columns if what in column)
        lines.append([what, theirs] + [column.get(what, ("", ""))[1] for column in columns])
    return table.markdown(lines)


def is_in(record):
    """Whether a record has all that the page shows: the papers' schedulers with a worker for each core, not bound."""
    has = {run["question"] for run in record["runs"] if "@per_worker" in run["contender"] and run["workers"] == record["circumstances"]["cores"]}
    return not record.get("bind") and has >= set(TABLES)


def simulated_rows(file):
    return {(each["machine"], each["question"], each["scheduler"], each["workers"]): each for each in json.loads(file.read_text())["rows"]}


def source_of(record, name):
    at = record["circumstances"]
    return (f"Commit {at['commit']}{' with changes' if at['changed'] else ''}, {at['date']}, [{name}](../bench/results/{name}): {at['cpu']}, "
            f"{at['cores']} cores, {record['rounds']} rounds, scale {record['scale']:g}.")


def write(record, name, page=DOCUMENT, simulation=SIMULATED):
    """Puts the tables into the page; `name`: the record's file."""
    found, simulated = table.results(record["runs"]), simulated_rows(simulation)
    blocks = {"source": source_of(record, name)}
    cores = record["circumstances"]["cores"]
    blocks |= {question: lines_of(found, simulated, question, cores) + "\n\n" + lines_of_gains(found, question, cores) for question in TABLES}
    for key, text in blocks.items():
        passage.replace(page, *(mark.format(key) for mark in MARKS), text)
