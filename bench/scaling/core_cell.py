"""A run of W1 to W10 or of W14: one program, one line of JSON."""

import json
import os
import signal
import subprocess

import plan
from scaling import cells

WANTED_S = 0.5
TOO_SHORT_S = 0.2  # such a run is made again, longer
TIME_LIMIT_S = 12
FIRST = 0.25  # of the length that plan.py gives: other machines are other machines
STEP = 4  # times, at most, from one run to the next
LEAST, MOST = 0.005, 8
FIXED = ("w5",)  # a number of colors, whatever time that takes


class failure(Exception):
    """Of a run; a line."""


class lengths:
    """The factor on a program's length, learned from how long its runs took."""

    def __init__(self):
        self.factors = {}
        self.of_program = {}  # the last factor with any number of workers: where a new number begins

    def of(self, cell):
        if cell.question in FIXED:
            return 0.5
        return self.factors.get(cell, self.of_program.get((cell.question, cell.contender), FIRST))

    def learn(self, cell, took_s):
        """Whether the run was long enough."""
        factor = self.of(cell)
        times = min(STEP, max(1 / STEP, WANTED_S / max(took_s, 1e-3)))
        self.factors[cell] = self.of_program[cell.question, cell.contender] = min(MOST, max(LEAST, factor * times))
        return took_s >= TOO_SHORT_S or cell.question in FIXED or self.factors[cell] <= factor


def words_of(cell, programs, factor):
    question = cells.question_of(cell.question)
    scale = f"{question.scale_of(cell.contender, '') * factor:g}"
    if cell.contender == "tokio_task":
        return [str(programs / "tokio_task"), cell.question, str(cell.workers), scale]
    return [str(programs / question.folder / cell.contender), str(cell.workers), scale] + [question.argument] * bool(
        question.argument
    )


def environment(programs):
    """Where W14's programs find those of others."""
    foreign = {
        "BENCH_REDIS_SERVER": program(programs, "redis-server"),
        "BENCH_REDIS_BENCHMARK": program(programs, "redis-benchmark"),
        "BENCH_TOKIO_TASK": [str(programs / "tokio_task")],
    }
    return {**plan.environment(), **{name: " ".join(words) for name, words in foreign.items()}}


def program(programs, name):
    """The words that start a program of Debian: what has its name is its loader, which finds it among its libraries."""
    library = programs / "lib"
    return [str(programs / name), "--library-path", str(library), str(library / name)]


def output_of(words, programs, limit_s=TIME_LIMIT_S, environ=None):
    """Raises a failure. `environ`: that of the program, if it does not come from a pack."""
    process = subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment(programs) if environ is None else environ,
    )
    try:
        said, complaints = process.communicate(timeout=limit_s)
    except BaseException as e:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if not isinstance(e, subprocess.TimeoutExpired):
            raise
        raise failure(f"more than {limit_s} s") from None
    if process.returncode != 0:
        raise failure(f"ended with {process.returncode}: {complaints.strip()[-200:]}")
    return said


def figures_of(cell, told):
    """The figures of one line of JSON. Adds processor time and context switches per event for W1 to W10."""
    question = cells.question_of(cell.question)
    size, cpu_s = told[question.sizes], told["user_s"] + told["system_s"]
    figures = {"size": size, "wall_s": told["wall_s"], "cpus_used": cpu_s / told["wall_s"] if told["wall_s"] else 0}
    if cell.kind == "core":
        figures["cpu_ns_per_event"] = cpu_s * 1e9 / size
        for switches in ("voluntary", "involuntary"):
            figures[f"{switches}_switches_per_1000"] = told[f"{switches}_switches"] * 1e3 / size
        if "wakes" in told:
            figures["own_wakes_per_1000"] = told["wakes"] * 1e3 / size
    wanted = (
        [name for each in question.figures for name in (each[0], *each[3:])]
        + ["cpus_used"]
        + [name for name in told if name.endswith("_per_1000")]
    )
    figures.update({name: told[name] for name in wanted if name in told})
    return figures


def run(cell, programs, known, limit_s=TIME_LIMIT_S):
    """Its figures. Raises a failure. A run that was too short is made again, once."""
    for _ in range(2):
        told = json.loads(output_of(words_of(cell, programs, known.of(cell)), programs, limit_s))
        if known.learn(cell, told["wall_s"]):
            break
    return figures_of(cell, told)
