"""What is simulated, and what it is compared with."""
import dataclasses
import json
import pathlib
import statistics

import machines
import papers

ROOT = pathlib.Path(__file__).resolve().parent
RECORDS = ROOT.parent / "bench" / "results"

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
TELLING = ("w4", "w8", "w9")  # whose events can tell the default scheduler what they cost: "default:told"
BY_LINES, WITH_LINES = "color_queues:lines-penalty", ("w8", "w9")  # whose handlers read memory
IDEAS = ("shared_queue:most-frequent", "color_queues:measured-penalty")  # the papers' own, for later work

# On how many of two cores: as in bench/plan.py, but for default:no-stealing, of which that has no row in W1, and with one worker one in W4 alone. Its
# other rows stand beside nothing that was measured.
HERE = {"default": (1, 2), "default:told": (2,), "default:no-stealing": (1, 2), "serial": (1,), "shared_queue": (1, 2),
        "shared_queue:most-frequent": (1, 2),
        "per_worker:no-stealing,no-freelists": (2,), "per_worker:no-stealing": (1, 2), "per_worker": (2,), "color_queues:no-stealing": (1, 2),
        "color_queues:base": (2,), "color_queues:time-left": (2,), "color_queues:penalty": (2,), "color_queues:measured-penalty": (2,),
        "color_queues:lines-penalty": (2,), "color_queues:locality": (2,), "color_queues": (2,)}

# The papers' tables: (question, scheduler): figure.
MELY = {("w4", "per_worker:no-stealing"): 1310, ("w4", "per_worker"): 122, ("w4", "color_queues:no-stealing"): 1265, ("w4", "color_queues:base"): 1195,
        ("w4", "color_queues:time-left"): 2042,
        ("w8", "per_worker:no-stealing"): 1103, ("w8", "per_worker"): 190, ("w8", "color_queues:base"): 1386, ("w8", "color_queues:penalty"): 2122,
        ("w9", "per_worker:no-stealing"): 1156, ("w9", "per_worker"): 1497, ("w9", "color_queues:base"): 1426, ("w9", "color_queues:locality"): 1869}
LIBASYNC = {("w10", "shared_queue"): 61_420, ("w10", "per_worker:no-stealing,no-freelists"): 240_618, ("w10", "per_worker:no-stealing"): 293_997,
            ("w10", "per_worker"): 384_765}
PAPERS = {"mely_8": ("Mely, tables III to VI, on 8 cores", MELY), "libasync_4": ("libasync-smp, table 2, on 4 processors", LIBASYNC)}
LARGE = ("large_16", "large_64", "large_128")

# Measured rows of the default scheduler: how the benchmarks call them, and how the simulation does.
VARIANTS = {"tartan_strand": "default", "tartan_strand+no_steal": "default:no-stealing", "tartan_strand+told": "default:told"}
# What is simulated on a paper's machine besides the rows of its tables.
BESIDE = {"mely_8": ("default", "default:told", "default:no-stealing", "shared_queue", "shared_queue:most-frequent", "color_queues:no-stealing",
                     "color_queues:time-left", "color_queues:penalty", "color_queues:measured-penalty", "color_queues:lines-penalty", "color_queues"),
          "libasync_4": DEFAULT}


@dataclasses.dataclass(frozen=True)
class asked:
    question: str
    machine: str
    scheduler: str
    workers: int
    size: int
    given: tuple = ()


def row(question, machine, scheduler, workers, sizes=None):
    return asked(question, machine, scheduler, workers, (sizes or SIZES)[question])


def waits(machine):
    """Events of 200 ms on all workers but one, and on all. It sleeps for readiness, which has its costs from the web servers'."""
    return asked("waits", machine, "default", machines.MACHINES[machine]["cores"], 200_000_000, (("web_lines", 0),))


def can_be_told(question, scheduler):
    return question in (TELLING if scheduler == "default:told" else WITH_LINES if scheduler == BY_LINES else QUESTIONS)


def here():
    for question in QUESTIONS:
        yield from (row(question, "here_2", scheduler, workers) for scheduler, on in HERE.items() for workers in on if can_be_told(question, scheduler))


def paper_rows(machine):
    """(question, scheduler): the paper's, then those beside them."""
    table = PAPERS[machine][1]
    asked = dict.fromkeys(question for question, _ in table)
    return list(dict.fromkeys(list(table) + [(question, scheduler) for question in asked for scheduler in BESIDE[machine] if can_be_told(question, scheduler)]))


def everything():
    found = list(here())
    for machine in PAPERS:
        found += [row(question, machine, scheduler, machines.MACHINES[machine]["cores"]) for question, scheduler in paper_rows(machine)]
    for machine in LARGE:
        found += [row(question, machine, scheduler, machines.MACHINES[machine]["cores"]) for question in QUESTIONS for scheduler in ALL]
    return found


def small():
    """For the test: some seconds."""
    found = [row(question, "mely_8", scheduler, 8, SMALL_SIZES) for question in SMALL_SIZES
             for scheduler in ("default", "default:no-stealing", "per_worker", "color_queues:base", "color_queues", *IDEAS)]
    found += [row(question, "mely_8", BY_LINES, 8, SMALL_SIZES) for question in WITH_LINES]
    return found + [waits(machine) for machine in ("here_2", "mely_8", "large_16", "large_64")]


def newest_record():
    """Of those in bench/results that have the papers' schedulers: the last one by its date."""
    records = [json.loads(file.read_text()) for file in RECORDS.glob("*.json") if not file.stem.endswith("-gate")]
    return max((record for record in records if papers.is_in(record)), key=lambda record: record["circumstances"]["date"])


def measured(record):
    """{(question, scheduler, workers): median} of Tartan's rows by strand, and where that was."""
    found = {}
    for run in record["runs"]:
        name, _, scheduler = run["contender"].partition("@")
        if name in VARIANTS and run["question"] in FIGURE:
            found.setdefault((run["question"], scheduler or VARIANTS[name], run["workers"]), []).append(run[FIGURE[run["question"]]])
    at = record["circumstances"]
    processor = next((word for word in ("EPYC", "Xeon") if word in at["cpu"]), at["cpu"])
    return f"{processor}, {at['commit']}", {key: statistics.median(values) for key, values in found.items()}


def text(value):
    if value is None:
        return ""
    if value >= 1e6:
        return f"{value / 1e6:.1f} M"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def error(simulated, real):
    return "" if real is None else f"{100 * (simulated / real - 1):+.0f} %"


def lines_here(found, record):
    """Rows that the results lack are left out, here and below; the figures that a row of several lacks are left empty."""
    name, real = measured(record)
    for question in QUESTIONS:
        yield (f"\n**{TITLE[question]}, 2 cores**\n\n| scheduler | workers | simulated | measured, {name} | error |\n|---|---|---|---|---|")
        for wanted in here():
            key = (question, wanted.scheduler, wanted.workers)
            if wanted.question == question and ("here_2", *key) in found:
                simulated = found[("here_2", *key)][FIGURE[question]]
                yield (f"| `{wanted.scheduler}` | {wanted.workers} | {text(simulated)} | {text(real.get(key))} | {error(simulated, real.get(key))} |")


def lines_of_papers(found):
    for machine, (title, table) in PAPERS.items():
        workers = machines.MACHINES[machine]["cores"]
        yield f"\n**{title}**\n\n| workload | scheduler | paper | simulated | error |\n|---|---|---|---|---|"
        given = (machines.GIVEN["question"], machines.GIVEN["scheduler"]) if machine == machines.GIVEN["machine"] else None
        for question, scheduler in sorted(paper_rows(machine), key=lambda each: QUESTIONS.index(each[0])):
            if (machine, question, scheduler, workers) in found:
                simulated = found[(machine, question, scheduler, workers)][FIGURE[question]]
                paper = table.get((question, scheduler))
                wrong = "given" if (question, scheduler) == given else error(simulated, paper)
                yield f"| {TITLE[question]} | `{scheduler}` | {text(paper)} | {text(simulated)} | {wrong} |"


def lines_of_large(found):
    for question in QUESTIONS:
        heads = "".join(f" {machines.MACHINES[machine]['cores']} cores, simulated |" for machine in LARGE)
        yield f"\n**{TITLE[question]}: predicted**\n\n| scheduler |{heads}\n|---|" + "---|" * len(LARGE)
        for scheduler in ALL:
            keys = [(machine, question, scheduler, machines.MACHINES[machine]["cores"]) for machine in LARGE]
            if any(key in found for key in keys):
                yield f"| `{scheduler}` |" + "".join(f" {text(found[key][FIGURE[question]] if key in found else None)} |" for key in keys)


def by_events(row):
    """Steals, and the colors that they took, of 1000 events."""
    if row["steals"] == 0:
        return "no steals"
    return f"{1000 * row['steals'] / row['checked']:.3g} steals of {1000 * row['stolen_colors'] / row['checked']:.3g} colors"


def lines_of_losses(found):
    """Where a scheduler of the papers is faster than the default by more than 2 %."""
    for (machine, question, scheduler, workers), each in found.items():
        own = found.get((machine, question, "default", workers))
        if own is None or scheduler.startswith("default"):
            continue
        other, mine = each[FIGURE[question]], own[FIGURE[question]]
        times = mine / other if question == "w1" else other / mine
        if times > 1.02:
            yield (f"- `{machine}`, {TITLE[question]}, {workers} worker{'s' if workers > 1 else ''}: `{scheduler}` {text(other)}, the default {text(mine)}"
                   f"{f'. In 1000 events {by_events(each)}; by the default {by_events(own)}' if each['steals'] + own['steals'] else ''}.")
