"""What bench/scale measures: a cell is a question, a contender and a number of workers."""

import dataclasses
import typing

import plan

WORKERS = (1, 2, 4, 8, 16)
CORE = ("w1", "w2", "w3", "w4", "w5", "w6", "w7", "w9", "w10")
CORE_CONTENDERS = ("tartan_strand", "asio_strand", "tokio_task")
PIPELINES = (1, 16, 64)
KEY_VALUE = tuple(f"w14_p{pipeline}" for pipeline in PIPELINES)
KEY_VALUE_CONTENDERS = ("tartan_shards", "asio_mutex", "tokio_mutex", "redis")
WEB_CONTENDERS = ("floor", "tartan_web", "asio_beast", "tokio_hyper", "nginx")
MANY_CPUS = 8
SINGLE = ("redis", "floor")  # they know one worker
REQUESTS_PER_CONNECTION = {"h1": 0, "h2": 150}
ONCE = ("w5",)  # bytes: a second round would say the same


@dataclasses.dataclass(frozen=True)
class panel:
    """One figure of one question: a part of the picture, and a table."""

    question: str
    title: str
    figure: str  # its name in a run
    heading: str
    more_is_better: bool


@dataclasses.dataclass(frozen=True)
class cell:
    question: str
    contender: str
    workers: int
    kind: str  # "core", "key_value" or "web"

    def label(self):
        return f"{self.question} {self.contender} with {self.workers}"


def question_of(key):
    """Of plan.py: all but those of the web."""
    return next(each for each in plan.QUESTIONS if each.key == key)


def planned_panels(key):
    """W1 to W10 have one figure here, W14 both."""
    question = question_of(key)
    return [panel(key, question.title, *figure[:3]) for figure in question.figures[: 2 if key in KEY_VALUE else 1]]


def web_panels():
    panels = []
    for key, title in (
        ("h1", "H1: one file of 1 KB, 200 kept connections"),
        ("h2", "H2: the same, 150 requests per connection"),
    ):
        panels.append(panel(key, title, "cpu_us", "CPU us a request", False))
        panels.append(panel(key, title, "per_s", "requests/s", True))
    return panels


def panels():
    return [each for key in CORE + KEY_VALUE for each in planned_panels(key)] + web_panels()


def most_server_workers(cpus):
    """With many CPUs, the load has half of them. With few, rows with more workers than CPUs are wanted."""
    return cpus // 2 if cpus >= MANY_CPUS else 8


def of(cpus, wanted=WORKERS, has: typing.Callable = lambda contender, question: True):
    """All cells in their order. `has(contender, question)`: whether the pack has the program."""
    found = []
    for question in CORE:
        found += [cell(question, who, n, "core") for n in wanted for who in CORE_CONTENDERS if has(who, question)]
    for kind, questions, contenders in (
        ("key_value", KEY_VALUE, KEY_VALUE_CONTENDERS),
        ("web", REQUESTS_PER_CONNECTION, WEB_CONTENDERS),
    ):
        for question in questions:
            found += [
                cell(question, who, n, kind)
                for n in wanted
                for who in contenders
                if n <= most_server_workers(cpus) and (n == 1 or who not in SINGLE) and has(who, question)
            ]
    return found


def in_round(cells, number):
    """The cells in the order of a round. Each round begins a third further on, so that no cell is always the last."""
    kept = [each for each in cells if number == 0 or each.question not in ONCE]
    first = len(kept) * number // 3
    return kept[first:] + kept[:first] if number else kept
