"""What is asked, of whom, and how large: the rows of the table, in its order."""

import dataclasses
import os
import pathlib

BASE = "asio_strand"
FLOOR = "plain_loop"
IDEAL = "ideal_colors"  # a floor too, with colors: no rival
SINGLE = (FLOOR, IDEAL, "uv_loop", "event_loop")  # know no more than one worker, whatever is asked
RIVALS = ("tokio_task", "go_goroutine")  # bench/rivals builds them; one program for all questions of RIVALS_ANSWER
NEEDS_RIVAL = {"tokio_mutex": "tokio_task"}  # a program of ours that starts a rival's
RIVALS_ANSWER = ("w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10", "w11")
ROOT = pathlib.Path(__file__).resolve().parent.parent


@dataclasses.dataclass(frozen=True, eq=False)
class question:
    key: str  # as the programs print it
    folder: str
    title: str
    figures: tuple  # (name in JSON, heading, more is better[, name of what ratios are taken of])
    extras: tuple = ()  # (name in JSON, heading), medians
    scale: dict = dataclasses.field(default_factory=dict)  # contender or contender+variant: factor on the size in docs/benchmarks.md
    variants: dict = dataclasses.field(default_factory=dict)  # contender: (variant, (workers, ...)); 0 stands for all
    sizes: str = "events"
    group: str = "core"  # "core" or "io": what is run, kept and documented together
    workers: tuple = (1, 0)  # numbers of workers; 0 stands for all
    argument: str = ""  # the variant that all programs of the question are given
    base: tuple = (BASE, "x Asio")  # whom ratios are taken of, with the same number of workers, and their heading
    floor: tuple = (FLOOR, "x loop")  # the same, with one worker: what no contender of ours is expected to beat
    aim: float = 0  # so much of the floor, at least, on one worker, by the first figure
    order: tuple = ()  # of its contenders; those that are not named come last
    single: tuple = ()  # contenders that know no more than one worker
    most: dict = dataclasses.field(default_factory=dict)  # contender: with more workers its program is no longer what is asked
    binds: bool = True  # whether its programs by Tartan can bind their workers

    def scale_of(self, contender, variant):
        return self.scale.get(f"{contender}+{variant}", self.scale.get(contender, self.scale.get("", 1)))

    def asks(self, label, workers):
        """Whether a row of this name, with or without a variant, answers it with so many workers."""
        return workers <= self.most.get(label.split("+")[0], workers)


STEALS = (("steals", "steals"),)
# What a scheduler tells of itself. A column that no row of a table has is left out.
OWN = STEALS + (("stolen_colors", "stolen colors"), ("lock_share", "lock by CPU time"), ("ns_per_steal", "ns per steal"),
                ("stolen_run_ns", "ns that it brought"), ("longest_queue", "longest line"))
COUNTED = {name for name, _ in OWN} - {"steals", "stolen_colors"}  # cost time: not while anything is measured
CHAINS_END = (("first_chain_ends_at", "first chain ends at"),)
PLACING = (("placing_s", "placing, s"),)  # not in any other figure
DELAYS = (("delay_us_median", "delay, median, us"), ("delay_us_max", "longest, us"))

QUESTIONS = [
    question("w1", "w1_event_cost", "W1: an event that posts its successor in its own color", (("ns_per_event", "ns per event", False),),
             CHAINS_END + OWN,
             {FLOOR: 6, IDEAL: 6, "uv_loop": 6, "event_loop": 2, BASE: 0.4, "asio_context": 0.4, "tartan_strand": 6, "tartan_value": 6}),
    question("w2", "w2_post_from_outside", "W2: a post from a foreign thread", (("ns_per_event", "ns per event", False),),
             (("ns_per_post", "ns per post"),) + DELAYS + (("wakes", "wakes"),) + OWN, {"uv_loop": 4, "mutex_pool+batch": 2, "caf_actor": 0.4},
             {"mutex_pool": (("batch", (1, 0)),), "tartan_strand": (("batch", (1, 0)),), "tartan_value": (("batch", (1, 0)),)}),
    question("w3", "w3_hop", "W3: a hop between two colors", (("ns_per_event", "ns per event", False),),
             CHAINS_END + OWN,
             {FLOOR: 6, IDEAL: 6, "uv_loop": 6, "event_loop": 2, BASE: 0.4, "asio_context": 0.4, "caf_actor": 0.3, "go_goroutine": 0.6,
              "tartan_strand": 3, "tartan_value": 3, "tartan_strand+apart": 0.2},
             {"tartan_strand": (("apart", (0,)),)}),
    question("w4", "w4_unbalanced", "W4: unbalanced rounds, everything posted on the first worker",
             (("share_of_ideal", "share of the ideal", True, "kilo_events_per_s"),),
             (("kilo_events_per_s", "kilo-events/s"), ("evenness", "evenness")) + PLACING + OWN,
             {"": 0.5},
             {"tartan_strand": (("no_steal", (1, 0)), ("told", (0,)), ("fresh", (1, 0))), "tartan_value": (("no_steal", (1, 0)),)}),
    question("w5", "w5_idle_color", "W5: the weight of an idle color", (("bytes_per_color", "bytes per color", False),), (),
             {"tbb_node": 0.2, "mutex_pool": 0.5, "caf_actor": 0.2, "tokio_task": 0.2, "go_goroutine": 0.1}, sizes="colors"),
    question("w6", "w6_hot_color", "W6: one hot color, half of all events, and 1000 others",
             (("share_of_bound", "share of the bound", True, "speed_up"), ("cold_p99_vs_ideal", "others' p99 delay by the ideal one", False)),
             (("speed_up", "speed-up"), ("loop_share", "the loop's own share"),
              ("cold_us_median", "others' median, us"), ("cold_us_p99", "p99, us"), ("cold_us_max", "longest, us"),
              ("ideal_cold_us_p99", "ideal p99, us")) + OWN),
    question("w7", "w7_short_lived", "W7: colors that live for three events", (("ns_per_color", "ns per color", False),), DELAYS + OWN,
             {FLOOR: 6, "uv_loop": 6, "event_loop": 2, "caf_actor": 0.05, "tokio_task": 0.3, "go_goroutine": 0.4, "tartan_strand": 3, "tartan_value": 3},
             {"tartan_strand": (("no_steal", (1, 0)),), "tartan_value": (("no_steal", (1, 0)),)}, "colors"),
    question("w8", "w8_penalty", "W8: arrays of one worker, read in chains that had better stay where the array is",
             (("ns_per_a", "ns per A", False),), (("kilo_events_per_s", "kilo-events/s"),) + PLACING + OWN, {"": 0.4},
             {"tartan_strand": (("no_steal", (0,)), ("told", (0,))), "tartan_value": (("no_steal", (0,)),)}),
    question("w9", "w9_locality", "W9: merge sorts of one worker of each pair",
             (("ns_per_a", "ns per A", False),), (("kilo_events_per_s", "kilo-events/s"),) + PLACING + OWN, {"": 0.4},
             {"tartan_strand": (("no_steal", (0,)), ("told", (0,))), "tartan_value": (("no_steal", (0,)),)}),
    question("w10", "w10_table_2", "W10: 16 colors, and one worker that starts with none", (("tasks_per_s", "tasks/s", True),),
             (("ns_per_task", "ns per task"),) + CHAINS_END + OWN, {FLOOR: 4, "tbb_node": 1.5, "tartan_strand": 2.5, "tartan_value": 2.5},
             {"tartan_strand": (("no_steal", (0, 4)),), "tartan_value": (("no_steal", (0, 4)),)}, "tasks", workers=(1, 0, 4),
             most={"tartan_value": 2}),  # a new color begins where it is posted: on one worker, so all others would start with none
    question("w11", "w11_timers", "W11: many pending timers (as many as the column says)",
             (("ns_per_set", "ns per set", False), ("ns_per_cancel", "ns per cancel", False), ("cpu_ns_per_fire", "CPU ns per fire", False),
              ("late_us_p99", "late by, p99, us", False)),
             (("late_us_median", "median, us"), ("late_us_max", "worst, us"), ("fired_early", "fired early")),
             {"caf_actor": 0.05, "tokio_task": 0.4}, sizes="timers"),
]

ORDER = [FLOOR, IDEAL, "uv_loop", "event_loop", "mutex_pool", BASE, "asio_context", "tbb_node", "caf_actor", *RIVALS, "tartan_strand", "tartan_value"]

PING_PONG = [
    question(f"io_{over}_{count}", "io_ping_pong", f"Ping-pong over {name}, {count} connection{'s' if count > 1 else ''}",
             (("cpu_ns_per_round_trip", "CPU ns per round trip", False), ("round_trips_per_s", "round trips/s", True)),
             (("client_ns_per_round_trip", "client's CPU ns"), ("voluntary_switches", "vol. switches")) + STEALS, sizes="round_trips",
             group="io", argument=f"{over}_{count}", base=("asio_callback", "x Asio"), floor=("bare_epoll", "x epoll"), aim=1 / 1.1,
             order=("bare_epoll", "uv_callback", "asio_callback", "asio_coroutine", "tartan_callback", "tartan_coroutine"),
             single=("bare_epoll", "uv_callback"))
    for over, name in (("pair", "a socketpair"), ("tcp", "TCP")) for count in (1, 64, 1000)]

WEB = [
    question("h1", "io_h1", "H1: one file of 1 KB, 200 kept-alive connections",
             (("cpu_ns_per_request", "CPU ns per request", False), ("requests_per_s", "requests/s", True)),
             (("client_ns_per_request", "client's CPU ns"), ("fairness", "fairness"), ("clients_with_nothing", "starved clients")), sizes="requests",
             group="io", base=("nginx", "x nginx"), floor=("prepared_bytes", "x floor"), aim=1 / 1.3,
             order=("prepared_bytes", "nginx", "tartan_web"), single=("prepared_bytes",), binds=False)]

KEY_VALUE = [
    question(f"w14_p{pipeline}", "w14_key_value", f"W14: a key-value server, {pipeline} command{'s' if pipeline > 1 else ''} in a pipeline",
             (("cpu_ns_per_command", "CPU ns per command", False), ("commands_per_s", "commands/s", True)),
             (("system_calls_per_1000", "system calls/1000"), ("wake_ups_per_1000", "wake-ups/1000"), ("voluntary_switches_per_1000", "vol. switches/1000"),
              ("involuntary_switches_per_1000", "inv. switches/1000")) + STEALS, sizes="commands", group="key_value", argument=f"p{pipeline}",
             workers=(1, 2, 4, 8), base=("asio_mutex", "x Asio"), floor=("redis", "x Redis"), order=("redis", "asio_mutex", "tokio_mutex", "tartan_shards"),
             single=("redis",), scale={"": 1})
    for pipeline in (1, 16, 64)]

QUESTIONS += PING_PONG + WEB + KEY_VALUE


# The papers' schedulers and the numbers of workers; 0 stands for all, 4 is what table 2 of libasync-smp has.
PAPERS = {"serial": (1,), "shared_queue": (1, 0), "shared_queue:most-frequent": (1, 0), "per_worker:no-stealing,no-freelists": (0,),
          "per_worker:no-stealing": (1, 0), "per_worker": (0,),
          "color_queues:no-stealing": (1, 0), "color_queues:base": (0,), "color_queues:time-left": (0,), "color_queues:penalty": (0,),
          "color_queues:measured-penalty": (0,), "color_queues:locality": (0,), "color_queues": (0,)}
PAPERS_ANSWER = ("w1", "w2", "w3", "w4", "w5", "w6", "w7", "w8", "w9", "w10", "w11")
PAPERS_PROGRAM = "tartan_strand"
# With descriptors: by epoll and by select(), which knows no more than 1024. The web server is what the papers measure: with and without stealing.
PAPERS_OF_IO = {f"{name}{how}": (1, 0) for name in ("shared_queue", "per_worker") for how in ("", ":select")}
PAPERS_OF_WEB = {**PAPERS_OF_IO, **{name: (1, 0) for name in ("per_worker:no-stealing", "color_queues:no-stealing", "color_queues")}}
PAPERS_ANSWER_IO = {"io_pair_64": "tartan_callback", "io_tcp_64": "tartan_callback", "h1": "tartan_web"}


SCHEDULER = "TARTAN_SCHEDULER"
BIND = "TARTAN_BENCH_BIND"  # bench/lanes/tartan_options.h


def environment(scheduler="", bind=False):
    """What a program is run with: never with what the caller's environment says of schedulers and of binding."""
    others = {name: value for name, value in os.environ.items() if name not in (SCHEDULER, BIND)}
    return {**others, **({SCHEDULER: scheduler} if scheduler else {}), **({BIND: "1"} if bind else {})}


@dataclasses.dataclass(frozen=True)
class contender:
    """One row: a program, its variant, and the number of workers."""
    question: question
    name: str
    variant: str
    workers: int
    scheduler: str = ""  # empty: the default

    def counting(self):
        """The same row, whose scheduler counts what the papers print; None if it cannot, or always does, or no column shows it."""
        if self.scheduler in ("", "serial") or not COUNTED & {name for name, _ in self.question.extras}:
            return None
        return dataclasses.replace(self, scheduler=self.scheduler + (",figures" if ":" in self.scheduler else ":figures"))

    def label(self):
        if self.scheduler:
            return f"{self.name}@{self.scheduler}"
        return self.name + (f"+{self.variant}" if self.variant else "")

    def command(self, programs, scale):
        variant = self.question.argument or self.variant
        program = [str(programs / "rivals" / self.name), self.question.key] if self.name in RIVALS else [str(programs / self.question.folder / self.name)]
        return program + [str(self.workers), f"{self.question.scale_of(self.name, self.variant) * scale:g}"] + ([variant] if variant else [])


def all_workers():
    return len(os.sched_getaffinity(0))


def programs_of(asked, programs):
    found = sorted(path.name for path in (programs / asked.folder).glob("*") if os.access(path, os.X_OK) and path.is_file())
    return [name for name in found if name not in NEEDS_RIVAL or (programs / "rivals" / NEEDS_RIVAL[name]).exists()]


def without_rivals(asked, programs):
    """Lines on the contenders of a question whose rival was not built: each begins with a name."""
    return [f"{name} is left out: bench/rivals/build has not built {rival}" for name, rival in NEEDS_RIVAL.items()
            if name in asked.order and not (programs / "rivals" / rival).exists()]


def left_out(programs):
    """Lines on the contenders for whose library the build found nothing, as bench/CMakeLists.txt wrote them: each begins with a name."""
    told = programs / "left_out.txt"
    return [line for line in told.read_text().splitlines() if line] if told.exists() else []


def missing_from(asked, programs):
    """Contenders that the question names, or has a source of, and that were not built although their library is here, as labels."""
    found = programs_of(asked, programs) + [line.split()[0] for line in left_out(programs) + without_rivals(asked, programs)]
    sources = sorted(path.stem for path in (ROOT / "bench" / asked.folder).glob("*.cpp"))
    return [f"{asked.key} {name}: there is no such program" for name in asked.order or sources if name not in found]


def rivals_of(asked, programs):
    """Contenders that are not C++ and were built; the others have told why not."""
    return [name for name in RIVALS if asked.key in RIVALS_ANSWER and (programs / "rivals" / name).exists()]


def papers_program(asked):
    """Which program is run with the papers' schedulers, too; none: an empty name."""
    return PAPERS_PROGRAM if asked.key in PAPERS_ANSWER else PAPERS_ANSWER_IO.get(asked.key, "")


def papers_of(asked):
    """The papers' schedulers that it is run with, and on how many workers."""
    return PAPERS if asked.key in PAPERS_ANSWER else PAPERS_OF_WEB if asked.key == "h1" else PAPERS_OF_IO


def numbers_of(on, wanted):
    """The numbers of workers of a row that is run on these (0: all), or on those that are wanted instead: of a row that is not run on one
    worker, all above 1; of one that knows no other number, 1."""
    if not wanted:
        return list(dict.fromkeys(n or all_workers() for n in on))
    return [1] if tuple(on) == (1,) else [n for n in wanted if n > 1 or 1 in on]


def contenders_of(asked, programs, full=False, wanted=()):
    """The rows of one question for which there is a program; unknown programs come last. If `full`, also those that are not C++, and
    the papers' schedulers. `wanted`: numbers of workers instead of the plan's."""
    found = programs_of(asked, programs) + (rivals_of(asked, programs) if full else [])
    order = asked.order or ORDER
    names = [name for name in order if name in found] + [name for name in found if name not in order]
    rows = []
    for name in names:
        workers = (1,) if name in SINGLE or name in asked.single else asked.workers
        for variant, on in (("", workers), *asked.variants.get(name, ())):
            rows += [contender(asked, name, variant, n) for n in numbers_of(on, wanted) if asked.asks(name, n)]
        if full and name == papers_program(asked):
            for scheduler, on in papers_of(asked).items():
                numbers = numbers_of(on + (4,) * (asked.key == "w10" and scheduler != "serial"), wanted)
                rows += [contender(asked, name, "", n, scheduler) for n in numbers]
    return rows
