"""What is asked, of whom, and how large: the rows of the table, in its order."""

import dataclasses
import os

BASE = "asio_strand"
FLOOR = "plain_loop"


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

    def scale_of(self, contender, variant):
        return self.scale.get(f"{contender}+{variant}", self.scale.get(contender, self.scale.get("", 1)))


STEALS = (("steals", "steals"),)

QUESTIONS = [
    question("w1", "w1_event_cost", "W1: an event that posts its successor in its own color", (("ns_per_event", "ns per event", False),),
             (("first_chain_ends_at", "first chain ends at"),) + STEALS,
             {FLOOR: 6, BASE: 0.4, "tartan_strand": 6, "tartan_value": 6}),
    question("w2", "w2_post_from_outside", "W2: a post from a foreign thread", (("ns_per_event", "ns per event", False),),
             (("ns_per_post", "ns per post"), ("wakes", "wakes")), {},
             {"tartan_strand": (("batch", (1, 0)),), "tartan_value": (("batch", (1, 0)),)}),
    question("w3", "w3_hop", "W3: a hop between two colors", (("ns_per_event", "ns per event", False),), STEALS,
             {FLOOR: 6, BASE: 0.4, "tartan_strand": 3, "tartan_value": 3, "tartan_strand+apart": 0.2},
             {"tartan_strand": (("apart", (0,)),)}),
    question("w4", "w4_unbalanced", "W4: unbalanced rounds, everything posted on the first worker",
             (("share_of_ideal", "share of the ideal", True, "kilo_events_per_s"),), (("kilo_events_per_s", "kilo-events/s"),) + STEALS, {"": 0.5},
             {"tartan_strand": (("no_steal", (1, 0)),), "tartan_value": (("no_steal", (1, 0)),)}),
    question("w5", "w5_idle_color", "W5: the weight of an idle color", (("bytes_per_color", "bytes per color", False),), (),
             {"tbb_node": 0.2}, sizes="colors"),
    question("w7", "w7_short_lived", "W7: colors that live for three events", (("ns_per_color", "ns per color", False),), STEALS,
             {"tartan_strand": 3, "tartan_value": 3, FLOOR: 6},
             {"tartan_strand": (("no_steal", (1, 0)),), "tartan_value": (("no_steal", (1, 0)),)}, "colors"),
    question("w11", "w11_timers", "W11: a million pending timers",
             (("ns_per_set", "ns per set", False), ("ns_per_cancel", "ns per cancel", False), ("cpu_ns_per_fire", "CPU ns per fire", False),
              ("late_us_p99", "late by, p99, us", False)),
             (("late_us_median", "median, us"), ("late_us_max", "worst, us"), ("fired_early", "fired early")), sizes="timers"),
]

ORDER = [FLOOR, BASE, "tbb_node", "tartan_strand", "tartan_value"]


@dataclasses.dataclass(frozen=True)
class contender:
    """One row: a program, its variant, and the number of workers."""
    question: question
    name: str
    variant: str
    workers: int

    def label(self):
        return self.name + (f"+{self.variant}" if self.variant else "")

    def command(self, programs, scale):
        return [str(programs / self.question.folder / self.name), str(self.workers),
                f"{self.question.scale_of(self.name, self.variant) * scale:g}"] + ([self.variant] if self.variant else [])


def all_workers():
    return len(os.sched_getaffinity(0))


def contenders_of(asked, programs):
    """The rows of one question for which there is a program; unknown programs come last."""
    found = sorted(path.name for path in (programs / asked.folder).glob("*") if os.access(path, os.X_OK) and path.is_file())
    names = [name for name in ORDER if name in found] + [name for name in found if name not in ORDER]
    rows = []
    for name in names:
        workers = (1,) if name == FLOOR else tuple(dict.fromkeys((1, all_workers())))
        rows += [contender(asked, name, "", n) for n in workers]
        for variant, on in asked.variants.get(name, ()):
            rows += [contender(asked, name, variant, n) for n in dict.fromkeys(n or all_workers() for n in on)]
    return rows
