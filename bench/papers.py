"""The tables of docs/papers.md: what the papers print, and beside it what a record of bench/run has, and the simulation."""

import dataclasses
import json
import pathlib
import statistics

import passage
import plan
import table

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "papers.md"
SIMULATED = ROOT / "simulation" / "results.json"
MARKS = ("<!-- papers {}: begin (written by bench/run --docs) -->", "<!-- papers {}: end -->")
CYCLES_PER_NS = 2.33  # Mely, V.A
AGREE = 6 / 7  # of all rounds: so many on one side of 1 are a gain, or a loss
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
    by_serial: bool = False  # whether one more cell says how many times as good as serial
    more_is_better: bool = True


OTHERS = (row("", "@shared_queue"), row("", "@shared_queue:most-frequent"), row("", "@serial"), row("", ""), row("", "+told"), row("", "+no_steal"))
SERIAL = "@serial"
SPEED = column("KEvents/s", "kilo_events_per_s", by_serial=True)
MISSES = column("misses per event", "misses")

# question: (paper, columns, rows)
TABLES = {
    "w4": ("Mely", (SPEED, column("in locks", "lock_share", "share"), column("ns per steal", "ns_per_steal", "cycles"),
                    column("ns that it brought", "stolen_run_ns", "cycles")),
           (row("Libasync-smp", "@per_worker:no-stealing", (1310, 0.0093)), row("Libasync-smp - WS", "@per_worker", (122, 0.3973, 28329, 484)),
            row("Mely", "@color_queues:no-stealing", (1265, 0.0089)), row("Mely - base WS", "@color_queues:base", (1195, 0.0142, 2261, 445)),
            row("Mely - time-aware WS", "@color_queues:time-left", (2042, None, None, 49987)), row("", "@color_queues:penalty"),
            row("", "@color_queues:measured-penalty"), row("", "@color_queues:locality"), row("", "@color_queues"), *OTHERS)),
    "w7": ("Mely", (column("ns per color", "ns_per_color", papers=False, by_serial=True, more_is_better=False),),
           (row("Libasync-smp", "@per_worker:no-stealing"), row("Libasync-smp - WS", "@per_worker"), row("Mely", "@color_queues:no-stealing"),
            row("", "@color_queues:base"), row("Mely - WS", "@color_queues"), *OTHERS)),
    "w8": ("Mely", (SPEED, MISSES),
           (row("Libasync-smp", "@per_worker:no-stealing", (1103, 29)), row("Libasync-smp - WS", "@per_worker", (190, 167_000)),
            row("", "@color_queues:no-stealing"), row("Mely - base WS", "@color_queues:base", (1386, 42_000)),
            row("Mely - penalty-aware WS", "@color_queues:penalty", (2122, 2_000)), row("", "@color_queues:time-left"),
            row("", "@color_queues:measured-penalty"), row("", "@color_queues:locality"), row("", "@color_queues"), *OTHERS)),
    "w9": ("Mely", (SPEED, MISSES),
           (row("Libasync-smp", "@per_worker:no-stealing", (1156, 0)), row("Libasync-smp - WS", "@per_worker", (1497, 13)),
            row("", "@color_queues:no-stealing"), row("Mely - base WS", "@color_queues:base", (1426, 12)),
            row("Mely - locality-aware WS", "@color_queues:locality", (1869, 2)), row("", "@color_queues:time-left"),
            row("", "@color_queues:penalty"), row("", "@color_queues:measured-penalty"), row("", "@color_queues"), *OTHERS)),
    "w10": ("libasync-smp", (column("tasks/s, 4 workers", "tasks_per_s", workers=4, by_serial=True),
                             column("2 workers", "tasks_per_s", workers=2, papers=False, by_serial=True),
                             column("1 worker", "tasks_per_s", workers=1, papers=False, by_serial=True)),
            (row("Base", "@shared_queue", (61_420,)), row("+ Per-thread Queues", "@per_worker:no-stealing,no-freelists", (240_618,)),
             row("+ Per-thread Task Object Freelists", "@per_worker:no-stealing", (293_997,)), row("+ Work Stealing", "@per_worker", (384_765,)),
             row("", "@color_queues:no-stealing"), row("", "@color_queues:base"), row("", "@color_queues"), row("", "@serial"), row("", ""),
             row("", "+no_steal"))),
}

# question: (what is gained, the row that has it, the row that has not[, what the paper says, from and to]). Ratios by round; the paper's, if it
# is not said here, of its first column.
DEFAULT_GAINS = (("the default's stealing", "", "+no_steal"), ("what the default is told", "+told", ""))
GAINS = {
    "w4": (("libasync-smp's stealing", "@per_worker", "@per_worker:no-stealing"), ("Mely's base stealing", "@color_queues:base", "@color_queues:no-stealing"),
           ("time-left, over base", "@color_queues:time-left", "@color_queues:base"),
           ("time-left, over none", "@color_queues:time-left", "@color_queues:no-stealing"), *DEFAULT_GAINS),
    "w7": (("Mely's queues, over libasync-smp's, without stealing", "@color_queues:no-stealing", "@per_worker:no-stealing", (0.8, 0.93)),
           ("libasync-smp's stealing", "@per_worker", "@per_worker:no-stealing"),
           ("Mely's stealing, all heuristics", "@color_queues", "@color_queues:no-stealing"), DEFAULT_GAINS[0]),
    "w8": (("libasync-smp's stealing", "@per_worker", "@per_worker:no-stealing"), ("Mely's base stealing", "@color_queues:base", "@color_queues:no-stealing"),
           ("penalty, over base", "@color_queues:penalty", "@color_queues:base"),
           ("penalty, over time-left", "@color_queues:penalty", "@color_queues:time-left"), *DEFAULT_GAINS),
    "w9": (("libasync-smp's stealing", "@per_worker", "@per_worker:no-stealing"), ("Mely's base stealing", "@color_queues:base", "@color_queues:no-stealing"),
           ("locality, over base", "@color_queues:locality", "@color_queues:base"), *DEFAULT_GAINS),
    "w10": (("a queue for each worker", "@per_worker:no-stealing,no-freelists", "@shared_queue"),
            ("free lists", "@per_worker:no-stealing", "@per_worker:no-stealing,no-freelists"), ("stealing", "@per_worker", "@per_worker:no-stealing"),
            DEFAULT_GAINS[0]),
}


# What the papers propose for later work: (question, scheduler, what it is compared with).
MOST_FREQUENT, MEASURED = "@shared_queue:most-frequent", "@color_queues:measured-penalty"
IDEAS = tuple((question, MOST_FREQUENT, ("@shared_queue",)) for question in ("w4", "w6", "w8", "w9")) + tuple(
    (question, MEASURED, ("@color_queues:time-left", "@color_queues:penalty")) for question in ("w4", "w8", "w9"))
SIMULATED_IDEAS = tuple((question, "@color_queues:lines-penalty", over) for question, of, over in IDEAS if of == MEASURED and question != "w4")
SPEED_OF_IDEAS = {"w6": column("speed-up", "speed_up")}  # else SPEED: its table says nothing of events per second
SIMULATED_ON = (("here_2", 2), MELY)


@dataclasses.dataclass(frozen=True)
class server:
    """A figure that a paper prints of a server. `of`, `over`: rows of H1 whose ratio is ours, if a record has them."""
    paper: str
    what: str
    theirs: str
    why: str  # it is not measured here as there
    of: str = ""
    over: str = ""


LOAD, CPUS, FILES = "another load", "shared cores", "no file server"  # as the page explains them
SERVERS = (
    server("Mely, V.C, figure 7", "web server: Mely with all heuristics, over libasync-smp without stealing", "up to +25 %", LOAD, "@color_queues",
           "@per_worker:no-stealing"),
    server("Mely, V.C, figure 7", "the same, over libasync-smp with stealing", "up to +73 %", LOAD, "@color_queues", "@per_worker"),
    server("Mely, II.C, figures 4 and 7", "web server: libasync-smp's stealing", "up to -33 %", LOAD, "@per_worker", "@per_worker:no-stealing"),
    server("Mely, V.C", "web server: Mely without stealing, over libasync-smp without", "-7 to -20 %",
           LOAD + "; the cause that they name: [W7](#mely-vc-many-short-lived-colors-w7)", "@color_queues:no-stealing", "@per_worker:no-stealing"),
    server("Mely, table I, V.C", "web server: cycles of a steal, and of what it brings", "libasync-smp: 197 K, 20 K; Mely: 6 K, 23 K",
           LOAD + "; of short events: [W4](#mely-tables-iii-and-iv-an-unbalanced-load-w4)"),
    server("Mely, II.C, V.C", "web server: misses of the second cache", "libasync-smp's stealing: up to +146 %; locality and penalty: -24 %",
           "no hardware counters"),
    server("Mely, V.C, figures 3 and 8", "file server: libasync-smp's stealing", "+35 %; Mely's with all heuristics: the same", FILES),
    server("Mely, table I", "file server: cycles of a steal, and of what it brings", "libasync-smp: 4.8 K, 1200 K", FILES),
    server("libasync-smp, figure 7", "web server on 2 and 4 CPUs, over one; on one, and libasync's", "1.28, 1.5; 30.4 MB/s, 35.4 MB/s", CPUS),
    server("libasync-smp, figure 8", "Flash on 4 CPUs, over one", "1.68, and somewhat faster than libasync-smp's; Apache is slower", "neither is here"),
    server("libasync-smp, figure 10", "file server on 1, 2, 3, 4 CPUs, over libasync's on one", "0.96, 1.66, 2.20, 2.5", FILES),
    server("thesis, figure 5-2", "web server on 2 and 4 CPUs, over one; on one, and libasync's; N copies on 4", "1.36, 1.54; 22.8 MB/s, 24.8 MB/s; 2.50", CPUS),
    server("thesis, figure 5-3", "Flash on 4 CPUs, over one", "1.73; it and Apache are faster than libasync-mp's", "neither is here"),
    server("thesis, figure 5-5; Event-driven Programming for Robust Software, figure 1", "file server on 1, 2, 3, 4 CPUs, over libasync's on one",
           "0.95, 1.62, 2.18, 2.55", FILES),
)
WEB = ("h1", "tartan_web", "cpu_ns_per_request")


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


def key_of(question, ours, workers):
    return question, plan.PAPERS_PROGRAM + ours, 1 if ours == SERIAL else workers


def by_serial(found, key, column):
    """How many times as good as one queue without a lock on one worker; empty without either row."""
    times = found.ratio(key, key_of(key[0], SERIAL, 1), column.figure, column.more_is_better) if key in found.by_row else None
    return "" if times is None else f"{times:.3g}"


def misses_of(simulated, question, scheduler):
    each = simulated.get((MELY[0], question, scheduler, MELY[1]))
    return shown(each["misses"] / each["checked"]) if each else ""


def cells_of(found, simulated, question, row, all_workers):
    """Cells of one row; None if the record has no such row."""
    _, columns, _ = TABLES[question]
    cells, any_ours = [], False
    for place, each in enumerate(columns):
        key = (question, plan.PAPERS_PROGRAM + row.ours, each.workers) if each.workers else key_of(question, row.ours, all_workers)
        any_ours = any_ours or key in found.by_row
        if each.papers:
            cells.append(of_paper(row.paper[place] if place < len(row.paper) else None, each.unit))
        cells.append(misses_of(simulated, question, row.simulated()) if each is MISSES else median_of(found, key, each))
        cells += [by_serial(found, key, each)] * each.by_serial
    return cells if any_ours else None


def head_of(question):
    paper, columns, _ = TABLES[question]
    cells = [paper, "here"]
    for each in columns:
        ours = "simulated, 8 cores" if each is MISSES else "here"
        cells += [f"{each.heading}: {paper}", ours] if each.papers else [each.heading]
        cells += ["x serial"] * each.by_serial
    return cells


def lines_of(found, simulated, question, all_workers):
    """The table, as markdown; a row that the record lacks is left out."""
    lines = [head_of(question)]
    for each in TABLES[question][2]:
        cells = cells_of(found, simulated, question, each, all_workers)
        if cells is not None:
            lines.append([each.label, f"`{each.name()}`" + (", 1 worker" if each.ours == SERIAL else "")] + cells)
    return table.markdown(lines)


def fastest_of(found, question, workers):
    """The papers' row of the best median, with that many workers, or of serial."""
    first = TABLES[question][1][0]
    keys = [key for each in TABLES[question][2] if "@" in each.ours and (key := key_of(question, each.ours, workers)) in found.by_row]
    return (max if first.more_is_better else min)(keys, key=lambda key: found.median(key, first.figure), default=None)


def gains_of(found, question, workers):
    """{what is gained: (the paper's ratio, from and to, or nothing; ours, by round)}."""
    paper = {each.ours: each.paper[0] for each in TABLES[question][2] if each.paper}
    first, gains = TABLES[question][1][0], {}
    for what, of, over, *said in GAINS[question]:
        key, base = (key_of(question, name, workers) for name in (of, over))
        theirs = said[0] if said else (paper[of] / paper[over],) * 2 if of in paper and over in paper else ()
        gains[what] = (theirs, found.ratios(key, base, first.figure, first.more_is_better) if key in found.by_row else [])
    best, own = fastest_of(found, question, workers), key_of(question, "", workers)
    if best and own in found.by_row:
        gains[f"the default, over the papers' fastest here, `{best[1].split('@')[1]}`"] = ((), found.ratios(own, best, first.figure, first.more_is_better))
    return {what: each for what, each in gains.items() if each[1]}


def same_way(theirs, ours):
    """Whether both are gains, or losses: what nearly all rounds say."""
    if not theirs:
        return ""
    wins, losses = (sum(ratio > 1 for ratio in ours), sum(ratio < 1 for ratio in ours))
    if max(wins, losses) < AGREE * len(ours):
        return "rounds differ"
    return "yes" if all((ratio > 1) == (wins > losses) for ratio in theirs) else "**no**"


def lines_of_gains(found, question, all_workers):
    """The second table: ratios, which is what may be compared, and whether theirs and ours go the same way."""
    numbers = (4, 2) if question == "w10" else (all_workers,)
    columns = [gains_of(found, question, workers) for workers in numbers]
    lines = [["gain", TABLES[question][0]] + [head for workers in numbers for head in (f"here, {workers} workers", "the same way")]]
    for what in dict.fromkeys(what for column in columns for what in column):
        theirs = next(column[what][0] for column in columns if what in column)
        cells = [f"x {' to '.join(dict.fromkeys(f'{ratio:.3g}' for ratio in theirs))}" if theirs else ""]
        for column in columns:
            ours = column[what][1] if what in column else []
            cells += [f"x {statistics.median(ours):.3g}", same_way(theirs, ours)] if ours else ["", ""]
        lines.append([what, *cells])
    return table.markdown(lines)


def is_in(record):
    """Whether a record has all that the page shows: the papers' schedulers with a worker for each core, not bound."""
    if "kind" in record or record.get("group") in ("web", "web-slices"):
        return False
    has = {run["question"] for run in record["runs"] if "@per_worker" in run["contender"] and run["workers"] == record["circumstances"]["cores"]}
    return not record.get("bind") and not record.get("rows") and has >= set(TABLES)


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


def has_ideas(record):
    """Whether a record has each of the papers' ideas for later work, beside what it is compared with."""
    ran = {(run["question"], run["contender"].partition("@")[2]) for run in record["runs"] if run["workers"] == record["circumstances"]["cores"]}
    return not record.get("bind") and all((question, each[1:]) in ran for question, of, over in IDEAS for each in (of, *over))


def by_rounds(found, key, base, figure, more_is_better):
    """The median of the ratios, and the ends."""
    ratios = found.ratios(key, base, figure, more_is_better)
    return f"x {statistics.median(ratios):.3g} ({min(ratios):.3g} to {max(ratios):.3g})"


def with_cpu_time(run):
    return run | {"cpu_ns_per_event": 1e9 * (run["user_s"] + run["system_s"]) / run["events"]}


def simulated_ratio(simulated, question, of, over, machine, workers):
    """Empty if one of the two was not simulated."""
    each, base = (simulated.get((machine, question, name[1:], workers)) for name in (of, over))
    return f"x {each[SPEED.figure] / base[SPEED.figure]:.3g}" if each and base else ""


def lines_of_ideas(found, simulated, all_workers):
    """Each idea, the schedulers without it, and by how much it is faster: measured, by round, by the clock and by CPU time; and simulated."""
    heads = [f"simulated, {workers} cores" for _, workers in SIMULATED_ON]
    lines = [["workload", "scheduler", f"KEvents/s (W6: speed-up), {all_workers} workers", "over", "measured", "by CPU time", *heads]]
    for question, of, others in IDEAS + SIMULATED_IDEAS:
        key, speed = key_of(question, of, all_workers), SPEED_OF_IDEAS.get(question, SPEED)
        for over in others:
            base = key_of(question, over, all_workers)
            measured = ["", f"`{over[1:]}`", "", ""]
            if key in found.by_row:
                measured = [median_of(found, key, speed), f"`{over[1:]}`, {median_of(found, base, speed)}",
                            by_rounds(found, key, base, speed.figure, True), by_rounds(found, key, base, "cpu_ns_per_event", False)]
            lines.append([question.upper(), f"`{of[1:]}`", *measured,
                          *(simulated_ratio(simulated, question, of, over, *on) for on in SIMULATED_ON)])
    return table.markdown(lines, words=(0, 1, 3))


def write_ideas(record, name, page=DOCUMENT, simulation=SIMULATED):
    """Puts the table of the papers' ideas into the page; `name`: the record's file."""
    cores, load = (record["circumstances"][key] for key in ("cores", "load_before"))
    chosen = [with_cpu_time(run) for run in record["runs"] if run["question"] in {question for question, _, _ in IDEAS}]
    text = lines_of_ideas(table.results(chosen), simulated_rows(simulation), cores)
    passage.replace(page, *(mark.format("ideas") for mark in MARKS), f"{source_of(record, name)} Load at the start: {load:.1f}.\n\n{text}")


def lines_of_servers(found, all_workers):
    question, program, figure = WEB
    lines = [["paper", "what", "theirs", f"here, H1, {all_workers} workers", "why not as there"]]
    for each in SERVERS:
        of, over = ((question, program + name, all_workers) for name in (each.of, each.over))
        ratio = found.ratio(of, over, figure, False) if each.of and of in found.by_row else None
        lines.append([each.paper, each.what, each.theirs, "" if ratio is None else f"x {ratio:.3g}", each.why])
    return table.markdown(lines, words=(0, 1, 2, 4))


def write_servers(record, name, page=DOCUMENT):
    """Of a record of sockets; nothing if the web server was not run."""
    if not any(run["question"] == WEB[0] for run in record["runs"]):
        return
    text = lines_of_servers(table.results(record["runs"]), record["circumstances"]["cores"])
    passage.replace(page, *(mark.format("servers") for mark in MARKS), f"Ours: {source_of(record, name)}\n\n{text}")
