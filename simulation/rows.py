"""What is simulated, and what it is compared with."""
import dataclasses
import json
import pathlib
import statistics

import machines

ROOT = pathlib.Path(__file__).resolve().parent

# Virtual ns, but for W1 and W10: events.
SIZES = {"w1": 64_000, "w4": 60_000_000, "w8": 60_000_000, "w9": 60_000_000, "w10": 128_000}
SMALL_SIZES = {"w1": 6_400, "w4": 1_000_000, "w8": 1_000_000, "w9": 1_000_000, "w10": 6_400, "crowd": 600}
FIGURE = {"w1": "ns_per_event", "w4": "kilo_events_per_s", "w8": "kilo_events_per_s", "w9": "kilo_events_per_s", "w10": "tasks_per_s"}
TITLE = {"w1": "W1, ns per event", "w4": "W4, kilo-events/s", "w8": "W8, kilo-events/s", "w9": "W9, kilo-events/s", "w10": "W10, tasks/s"}

DEFAULT = ("default", "default:no-stealing")
PER_WORKER = ("per_worker:no-stealing", "per_worker")
COLOR_QUEUES = ("color_queues:no-stealing", "color_queues:base", "color_queues:time-left", "color_queues:penalty", "color_queues:locality",
                "color_queues")
ALL = DEFAULT + PER_WORKER + COLOR_QUEUES
QUESTIONS = ("w1", "w4", "w8", "w9", "w10")

# The papers' tables: (question, scheduler): figure.
MELY = {("w4", "per_worker:no-stealing"): 1310, ("w4", "per_worker"): 122, ("w4", "color_queues:no-stealing"): 1265, ("w4", "color_queues:base"): 1195,
        ("w4", "color_queues:time-left"): 2042,
        ("w8", "per_worker:no-stealing"): 1103, ("w8", "per_worker"): 190, ("w8", "color_queues:base"): 1386, ("w8", "color_queues:penalty"): 2122,
        ("w9", "per_worker:no-stealing"): 1156, ("w9", "per_worker"): 1497, ("w9", "color_queues:base"): 1426, ("w9", "color_queues:locality"): 1869}
LIBASYNC = {("w10", "shared_queue"): 61_420, ("w10", "per_worker:no-stealing,no-freelists"): 240_618, ("w10", "per_worker:no-stealing"): 293_997,
            ("w10", "per_worker"): 384_765}
PAPERS = {"mely_8": ("Mely, tables III to VI, on 8 cores", MELY), "libasync_4": ("libasync-smp, table 2, on 4 processors", LIBASYNC)}
LARGE = ("large_16", "large_64", "large_128")

# What was measured on two cores: on the processor that the constants are of, the default scheduler of the day before; and on another one.
MEASURED = {"EPYC": ROOT.parent / "bench" / "results" / "2026-11-21-f340174.json",
            "Xeon": ROOT.parent / "bench" / "results" / "2026-11-22-ca81928-w4-w8-w9-w10.json"}


@dataclasses.dataclass(frozen=True)
class asked:
    question: str
    machine: str
    scheduler: str
    workers: int
    size: int


def row(question, machine, scheduler, workers, sizes=None):
    return asked(question, machine, scheduler, workers, (sizes or SIZES)[question])


def here():
    for question in QUESTIONS:
        yield from (row(question, "here_2", scheduler, workers) for scheduler in ALL for workers in (1, 2) if workers == 2 or scheduler in (
            "default", "per_worker:no-stealing", "color_queues:no-stealing"))


def everything():
    found = list(here())
    for machine, (_, table) in PAPERS.items():
        found += [row(question, machine, scheduler, machines.MACHINES[machine]["cores"]) for question, scheduler in table]
        found += [row(question, machine, scheduler, machines.MACHINES[machine]["cores"])
                  for question in dict.fromkeys(question for question, _ in table) for scheduler in DEFAULT]
    for machine in LARGE:
        found += [row(question, machine, scheduler, machines.MACHINES[machine]["cores"]) for question in QUESTIONS for scheduler in ALL]
    return found


def small():
    """For the test: some seconds."""
    return [row(question, "mely_8", scheduler, 8, SMALL_SIZES) for question in SMALL_SIZES
            for scheduler in ("default", "per_worker", "color_queues:base", "color_queues")]


def measured(file):
    """{(question, scheduler, workers): median} of Tartan's rows by strand."""
    found = {}
    for run in json.loads(file.read_text())["runs"]:
        name, _, scheduler = run["contender"].partition("@")
        if name == "tartan_strand+no_steal" and run["question"] in FIGURE:
            scheduler = "default:no-stealing"
        elif name != "tartan_strand" or run["question"] not in FIGURE:
            continue
        found.setdefault((run["question"], scheduler or "default", run["workers"]), []).append(run[FIGURE[run["question"]]])
    return {key: statistics.median(values) for key, values in found.items()}


def text(value):
    if value is None:
        return ""
    if value >= 1e6:
        return f"{value / 1e6:.1f} M"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def error(simulated, real):
    return "" if real is None else f"{100 * (simulated / real - 1):+.0f} %"


def print_here(found):
    real = {name: measured(file) for name, file in MEASURED.items()}
    for question in QUESTIONS:
        shown = {name: rows for name, rows in real.items() if any(key[0] == question for key in rows)}
        heads = "".join(f" measured, {name} | error |" for name in shown)
        print(f"\n### {TITLE[question]}, 2 cores\n\n| scheduler | workers | simulated |{heads}\n|---|---|---|" + "---|---|" * len(shown))
        for wanted in here():
            key = (question, wanted.scheduler, wanted.workers)
            if wanted.question == question:
                simulated = found[("here_2", *key)][FIGURE[question]]
                cells = "".join(f" {text(rows.get(key))} | {error(simulated, rows.get(key))} |" for rows in shown.values())
                print(f"| `{wanted.scheduler}` | {wanted.workers} | {text(simulated)} |{cells}")


def print_papers(found):
    for machine, (title, table) in PAPERS.items():
        workers = machines.MACHINES[machine]["cores"]
        print(f"\n### {title}\n\n| workload | scheduler | paper | simulated | error |\n|---|---|---|---|---|")
        given = (machines.GIVEN["question"], machines.GIVEN["scheduler"]) if machine == machines.GIVEN["machine"] else None
        shown = list(table) + [(question, scheduler) for question in dict.fromkeys(question for question, _ in table) for scheduler in DEFAULT]
        for question, scheduler in sorted(shown, key=lambda each: QUESTIONS.index(each[0])):
            simulated = found[(machine, question, scheduler, workers)][FIGURE[question]]
            paper = table.get((question, scheduler))
            wrong = "given" if (question, scheduler) == given else error(simulated, paper)
            print(f"| {TITLE[question]} | `{scheduler}` | {text(paper)} | {text(simulated)} | {wrong} |")


def print_large(found):
    for question in QUESTIONS:
        heads = "".join(f" {machines.MACHINES[machine]['cores']} cores, simulated |" for machine in LARGE)
        print(f"\n### {TITLE[question]}: predicted\n\n| scheduler |{heads}\n|---|" + "---|" * len(LARGE))
        for scheduler in ALL:
            cells = "".join(f" {text(found[(machine, question, scheduler, machines.MACHINES[machine]['cores'])][FIGURE[question]])} |" for machine in LARGE)
            print(f"| `{scheduler}` |{cells}")


def print_tables(results):
    found = {(each["machine"], each["question"], each["scheduler"], each["workers"]): each for each in results}
    print_here(found)
    print_papers(found)
    print_large(found)
