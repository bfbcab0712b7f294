"""Counts what does not depend on the number of CPUs: system calls, wake-ups, context switches, instructions.

These are separate, short runs. perf counts in the kernel, cachegrind counts instructions; without perf or valgrind the
figures are missing. Instructions are the difference of two runs, one twice as long as the other, so that start-up and
end cancel out.
"""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile

import server
from scaling import cells, core_cell, web_cell, usage

EVENTS = {
    "raw_syscalls:sys_enter": "system_calls",
    "sched:sched_wakeup": "wake_ups",
    "context-switches": "context_switches",
}
SHORT = 0.2  # of the length of a run that is timed
REQUESTS = 20_000
INSTRUCTIONS_OF = ("w1", "w2", "w3", "w7", "w10")  # the others spin for a time
INSTRUCTIONS_WITH = (1, 4)
VERY_SHORT = {"w1": 0.002, "w2": 0.01, "w3": 0.004, "w7": 0.005, "w10": 0.004}  # scale: tens of thousands of events
SLOW_REQUESTS = 3_000
VALGRIND = (
    "valgrind",
    "--tool=cachegrind",
    "--cache-sim=no",
    "--cachegrind-out-file=/dev/null",
    "--trace-children=yes",
)
SLOW_LIMIT_S = 40
FAILURES = (core_cell.failure, server.failure, subprocess.TimeoutExpired, OSError, ValueError, KeyError)


def perf_words(counted, load):
    """perf's words; a command or `-p` follows. `load`: a program whose wake-ups do not count."""
    names = list(EVENTS)
    words = ["perf", "stat", "-x", ",", "-o", str(counted)]
    for name in names:
        words += ["-e", name] + (["--filter", f'comm != "{load}"'] if load and name.startswith("sched:") else [])
    return words


def perf_counts(counted):
    """{figure: count} from perf's lines."""
    found = {}
    for line in counted.read_text().splitlines():
        cells_of_line = line.split(",")
        if len(cells_of_line) > 2 and cells_of_line[2] in EVENTS and cells_of_line[0].isdigit():
            found[EVENTS[cells_of_line[2]]] = int(cells_of_line[0])
    return found


def instructions_in(said):
    """All processes' of one run; None if valgrind has not told."""
    found = re.findall(r"I\s+refs:\s+([\d,]+)", said)
    return sum(int(each.replace(",", "")) for each in found) if found else None


def has_perf():
    if not shutil.which("perf"):
        return False
    with tempfile.TemporaryDirectory() as folder:
        counted = pathlib.Path(folder, "counted")
        done = subprocess.run(perf_words(counted, "") + ["true"], capture_output=True)
        return done.returncode == 0 and len(perf_counts(counted)) == len(EVENTS)


# --- W1 to W10 ---


def calls_of_core(of, cell):
    with tempfile.TemporaryDirectory() as folder:
        counted = pathlib.Path(folder, "counted")
        words = core_cell.words_of(cell, of.programs, of.lengths.of(cell) * SHORT)
        told = json.loads(core_cell.output_of(perf_words(counted, "") + words, of.programs))
        size = told[cells.question_of(cell.question).sizes]
        return {name: count / size for name, count in perf_counts(counted).items()}


def instructions_of_core(of, cell):
    """Of one event; None if valgrind says nothing."""
    seen = []
    for times in (1, 2):
        words = core_cell.words_of(
            cell,
            of.programs,
            VERY_SHORT[cell.question] * times / cells.question_of(cell.question).scale_of(cell.contender, ""),
        )
        done = subprocess.run([*VALGRIND, *words], capture_output=True, text=True, timeout=SLOW_LIMIT_S)
        if done.returncode != 0 or instructions_in(done.stderr) is None:
            return None
        seen.append((instructions_in(done.stderr), json.loads(done.stdout)[cells.question_of(cell.question).sizes]))
    (less, few), (more, many) = seen
    return (more - less) / (many - few) if many > few else None


# --- H1 and H2 ---


class started:
    """A server, for loads of so many requests."""

    def __init__(self, of, cell, around=()):
        self.cell, self.programs = cell, of.programs
        on, self.load_cpus = of.places.of(cell.workers)
        self.folder = tempfile.TemporaryDirectory(prefix="bench-scale-")
        self.at = pathlib.Path(self.folder.name)
        self.at.chmod(0o755)
        self.root = web_cell.document_root.document_roots(None, None, self.at).root("page")
        port = server.free_ports(1)[0]
        self.running = web_cell.served(
            [*around, *web_cell.web_words(cell, of.programs, self.root, self.at, port)], port, on
        )

    def load(self, count, around=()):
        words = web_cell.injector_words(
            self.cell, self.programs, self.running.port, self.root, [], self.at / "load.json", self.load_cpus
        )
        seconds, warm_up = words.index("--seconds"), words.index("--warm-up")
        words[warm_up + 1] = "0"
        words[seconds : seconds + 2] = ["--requests", str(count)]
        web_cell.load_output([*around, *words], self.load_cpus, SLOW_LIMIT_S, (0, 1))

    def end(self):
        """What it has said at its end."""
        with open(f"/proc/self/fd/{self.running.running.complaints.fileno()}", errors="replace") as kept:
            self.running.end()
            said = kept.read()
        self.folder.cleanup()
        return said


def calls_of_web(of, cell):
    at = started(of, cell)
    try:
        at.load(REQUESTS // 5)
        counted = at.at / "counted"
        ids = ",".join(str(each) for each in usage.descendants(at.running.ids))
        at.load(REQUESTS, perf_words(counted, "tartan-load") + ["-p", ids, "--"])
        return {name: seen / REQUESTS for name, seen in perf_counts(counted).items()}
    finally:
        at.end()


def instructions_of_web(of, cell):
    seen = []
    for times in (1, 2):
        at = started(of, cell, VALGRIND)
        try:
            at.load(SLOW_REQUESTS * times)
        finally:
            said = at.end()
        if instructions_in(said) is None:
            return None
        seen.append(instructions_in(said))
    return (seen[1] - seen[0]) / SLOW_REQUESTS


# --- all ---


def calls_of(of, cell):
    return calls_of_core(of, cell) if cell.kind == "core" else calls_of_web(of, cell)


def instructions_of(of, cell):
    found = instructions_of_core(of, cell) if cell.kind == "core" else instructions_of_web(of, cell)
    return {} if found is None else {"instructions": found}


def has_instructions(cell):
    if cell.kind == "core":
        return cell.question in INSTRUCTIONS_OF and cell.workers in INSTRUCTIONS_WITH
    return cell.workers == 1


def count_all(of, todo, count_one, left, within_s, say):
    """{cell: figures} of as many cells as there is time for."""
    until, found, missed = left.used() + within_s, {}, 0
    for cell in todo:
        if left.used() > until:
            missed += 1
            continue
        try:
            found[cell] = count_one(of, cell)
        except FAILURES as e:
            say(f"  not counted: {cell.label()}: {' '.join(str(e).split())}")
    if missed:
        say(f"  no time to count {missed} of {len(todo)} cells")
    return found


def count(of, all_cells, left, within_s, say):
    """Rows of figures, in the cells' order. Half of the time is for perf, half for valgrind."""
    todo = [cell for cell in all_cells if cell.kind != "key_value" and cell.question not in cells.ONCE]
    counted = []  # W14's programs count by themselves, and W5 weighs
    if has_perf():
        counted.append(count_all(of, todo, calls_of, left, within_s / 2, say))
    else:
        say("no perf that counts: neither system calls nor wake-ups")
    if shutil.which("valgrind"):
        slow = [cell for cell in todo if has_instructions(cell)]
        counted.append(count_all(of, slow, instructions_of, left, within_s / 2, say))
    else:
        say("no valgrind: no instructions")
    rows = []
    for cell in todo:
        figures = {name: value for found in counted for name, value in found.get(cell, {}).items()}
        if figures:
            rows.append({"question": cell.question, "contender": cell.contender, "workers": cell.workers, **figures})
    say(f"counted: {len(rows)} rows by {left.used():.0f} s")
    return rows
