"""The cells of bench/workers: a question's point, a contender and a number of workers. Each cell can be run once.

A run gives one flat set of figures. Figures of the web server and of W14 are of one request or command.
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import tempfile
import time

import contenders
import figures
import measurement
import plan
import server
import workloads
from scaling import cells, core_cell, counts, usage

PAGE = workloads.point(64, "page")
H1 = dataclasses.replace(workloads.BY_KEY["h1"], points=(PAGE,))
RATES = {"closed": 0, "500/s": 500, "5000/s": 5000}  # requests per second of the open loops
PIPELINES = ("p1", "p16")
W7_WORKERS = 8  # at most
W7_PROGRAMS = ("tartan_strand", "tartan_value")
POINTS = {"h1": tuple(RATES), "w14": PIPELINES, "w7": W7_PROGRAMS}
RIVAL = "nginx"

WARM_UP_S = 0.3
MARGIN_S = 0.1  # at both ends of a load: no count may include its connects and closes
COUNTED_S = 0.5
CLOCK = "date +%s%N"  # ns
BEYOND_S = 20  # what a load or a program may take more than it was asked for
W14_SCALE_S = 4  # what W14 takes at scale 1
W7_SCALE_S = 0.5  # with one worker


@dataclasses.dataclass(frozen=True)
class build:
    """A build of ours that is compared. `programs`: its folder, or None if only a server was named."""

    name: str
    server: pathlib.Path
    programs: pathlib.Path = None

    @staticmethod
    def at(name, path):
        """`path`: a build's folder, or a tartan-web."""
        if path.is_dir():
            return build(name, path / "apps" / "web" / contenders.OURS, path)
        return build(name, path)

    def contender(self):
        """tartan-web as bench/web starts it, from this build."""

        def start(place):
            ours = contenders.BY_NAME[contenders.OURS]
            launches = ours.start(place)
            return [dataclasses.replace(each, words=(str(self.server), *each.words[1:])) for each in launches]

        return contenders.contender(self.name, "ours", start, lambda programs: self.server)


@dataclasses.dataclass(frozen=True)
class cell:
    question: str
    point: str
    workers: int
    who: object  # a contender of bench/web, or a build

    def label(self):
        return f"{self.question} {self.point}, {self.who.name} with {self.workers}"

    def run(self, asked, seed):
        """Its figures. Raises a failure of the module server or of core_cell."""
        if self.question == "h1":
            return run_server(asked, self, seed)
        return run_w14(asked, self) if self.question == "w14" else run_w7(asked, self)


# --- the web server ---


class load:
    """The loads of one running server."""

    def __init__(self, asked, of, place, ids, cpus, seed):
        self.asked, self.rate, self.place = asked, RATES[of.point], place
        self.ids, self.cpus, self.seed = ids, cpus, seed

    def words(self, seconds):
        length = ["--seconds", f"{seconds:g}", "--warm-up", f"{WARM_UP_S:g}"]
        length += ["--rate", str(self.rate)] if self.rate else []
        return measurement.injector_words(
            self.asked, H1, PAGE, self.place, self.ids, self.told(), self.seed, length
        )

    def told(self):
        return self.place.at / "load.json"

    def run(self, seconds, watch):
        """What the injector has found, and what `watch(seconds)` has seen per second while it measured."""
        self.told().unlink(missing_ok=True)
        injector = subprocess.Popen(
            self.words(seconds),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=measurement.injector_environment(),
            preexec_fn=lambda: os.sched_setaffinity(0, self.cpus),
        )
        try:
            time.sleep(WARM_UP_S + MARGIN_S)
            seen = watch(seconds - 2 * MARGIN_S)
            _, said = injector.communicate(timeout=seconds + BEYOND_S)
        except subprocess.TimeoutExpired as e:
            raise server.failure(f"{pathlib.Path(e.cmd[0]).name} did not end") from None
        finally:
            if injector.poll() is None:
                injector.kill()
                injector.communicate()
        found = figures.of_run(measurement.found_by(injector.returncode, said, self.told()))
        return found, {name: count / found["requests_per_s"] for name, count in seen.items()}

    def switches(self, seconds):
        """Of all threads of the server, from /proc."""
        before, began = usage.now(self.ids), time.monotonic()
        time.sleep(seconds)
        seen, lasted = usage.between(before, usage.now(self.ids)), time.monotonic() - began
        return {f"{name}_switches": seen[name] / lasted for name in usage.NAMES}

    def calls(self, seconds):
        """System calls and wake-ups of the server, counted by the kernel for perf."""
        counted = self.place.at / "counted"
        ids = ",".join(str(each) for each in sorted(usage.descendants(self.ids)))
        # perf counts until the shell ends, which is late on a busy machine: the shell tells when.
        waits = ["/bin/sh", "-c", f"{CLOCK}; sleep {seconds:g}; {CLOCK}"]
        words = counts.perf_words(counted, "tartan-load") + ["-p", ids, "--", *waits]
        done = subprocess.run(words, capture_output=True, text=True, timeout=seconds + BEYOND_S)
        if done.returncode != 0:
            raise server.failure(f"perf ended with {done.returncode}: {done.stderr[-200:]}")
        began, ended = map(int, done.stdout.split())
        return {name: count * 1e9 / (ended - began) for name, count in counts.perf_counts(counted).items()}


def run_server(asked, of, seed):
    """Measures, then counts in a second load on the same server: perf slows it down."""
    with tempfile.TemporaryDirectory(prefix="bench-workers-") as folder:
        place = measurement.place_of(asked, H1, PAGE, of.who, of.workers, folder, asked.programs)
        served_by, loaded_by = measurement.processors(of.workers)
        running = server.server(of.who.start(place), place.ports, served_by)
        try:
            running.wait_until_ready()
            under = load(asked, of, place, running.ids, loaded_by, seed)
            found, switches = under.run(asked.seconds, under.switches)
            found |= switches
            if asked.counts:
                found |= under.run(COUNTED_S + 2 * MARGIN_S, under.calls)[1]
        finally:
            wrong = running.end(of.who.ends_with)
        if wrong and not measurement.is_excused(running, of.who):
            raise server.failure(wrong)
        return found


# --- programs that print a line ---


def line_of(of, key, program, scale, seconds):
    """What a program of the build prints."""
    row = plan.contender(cells.question_of(key), program, "", of.workers)
    words = row.command(of.who.programs / "bench", scale)
    said = core_cell.output_of(words, of.who.programs, seconds + BEYOND_S, plan.environment())
    return json.loads(said.strip().splitlines()[-1])


def run_w14(asked, of):
    """The sleeps are the runtime's own count. They are divided by all commands: also the warm-up's and the counted."""
    told = line_of(of, f"w14_{of.point}", "tartan_shards", asked.seconds / W14_SCALE_S, asked.seconds)
    found = {
        "cpu_us": told["cpu_ns_per_command"] / 1e3,
        "requests": told["commands"],
        "requests_per_s": told["commands_per_s"],
    }
    found |= {name: told[name] for name in ("p50_us", "p99_us") if name in told}
    for name in ("system_calls", "wake_ups", "voluntary_switches", "involuntary_switches"):
        if f"{name}_per_1000" in told:
            found[name] = told[f"{name}_per_1000"] / 1e3
    sent = told["commands"] * (1 + 1 / 8 + (1 / 4 if "system_calls" in found else 0))
    return found | ({"sleeps": told["sleeps"] / sent} if "sleeps" in told else {})


def run_w7(asked, of):
    told = line_of(of, "w7", of.point, asked.seconds / W7_SCALE_S, asked.seconds)
    found = {
        "ns_per_color": told["ns_per_color"],
        "cpu_us": (told["user_s"] + told["system_s"]) * 1e6 / told["colors"],
        "voluntary_switches": told["voluntary_switches"] / told["colors"],
    }
    return found | ({"sleeps": told["sleeps"] / told["colors"]} if "sleeps" in told else {})


# --- all ---


def groups(asked, builds):
    """Lists of cells that are compared: one for each question, point and number of workers."""
    core = [each for each in builds if each.programs] or [build.at("tartan", asked.programs)]
    servers = [each.contender() for each in builds] + [contenders.BY_NAME[RIVAL]] * asked.has_rival
    found = []
    for question, points in POINTS.items():
        if asked.only and question not in asked.only:
            continue
        for point in points:
            for workers in asked.workers:
                if question != "w7" or workers <= W7_WORKERS:
                    who = servers if question == "h1" else core
                    found.append([cell(question, point, workers, each) for each in who])
    return found
