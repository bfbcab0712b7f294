"""One measurement: a server is started, the injector warms it up and measures, and the server is ended.

`asked` has the injector (`load`), the folder of programs, the document roots (`roots`), and how many seconds are measured.
"""

import json
import os
import pathlib
import subprocess
import tempfile

import contenders
import figures
import plan
import server
import workloads

BEYOND_S = 90  # what an injector may take more than it measures: ten thousand connections are made first


def processors(workers):
    """(CPUs of the server, of the injector). With CPUs for both the server has one for each worker; else both share all, as the kernel sees fit."""
    every = sorted(os.sched_getaffinity(0))
    if workers >= len(every):
        return every, every
    return every[:workers], every[workers:]


def length_words(asked, workload, at):
    return ["--seconds", f"{workloads.measured_s(at, asked.seconds):g}", "--warm-up", f"{workloads.warm_up_s(workload, at, asked.seconds):g}"]


def injector_words(asked, workload, at, place, ids, told, seed, length):
    """The command of the load; `length`: the words that say when it begins to count, and ends."""
    shared = place.workers >= plan.all_workers()
    own = max(1, plan.all_workers() // 2) if shared else plan.all_workers() - place.workers
    target = "/page.html" if at.files == "page" else "/"
    words = [str(asked.load), "http", *(word for port in place.ports for word in ("--url", f"http://127.0.0.1:{port}{target}")),
             "--clients", str(at.clients), "--requests-per-connection", str(workload.requests_per_connection),
             *length, "--workers", str(own), "--json", str(told), "--seed", str(seed)]
    words += [word for each in ids for word in ("--server", str(each))]
    if at.files != "page":
        return words + ["--set", str(place.root)]
    return words + ["--body", str(place.root / "page.html")]  # with several ports, too: all serve the same file


def injector_environment():
    """Never with what the caller's says of schedulers."""
    return {name: value for name, value in os.environ.items() if name != contenders.SCHEDULER}


def found_by(status, said, told):
    """What an injector that has ended has written into `told`. Raises a failure."""
    if status not in (0, 1) or not told.exists():  # 1: there were errors, which are figures
        raise server.failure(f"the injector ended with {status}: {said.strip()[-300:]}")
    found = json.loads(told.read_text())
    if not found["requests"]:
        raise server.failure(f"no request was answered; errors {found['errors']}")
    return found


def place_of(asked, workload, at, who, workers, folder, programs):
    """Where a contender runs, with ports that nobody listens on; `folder`: of its own."""
    os.chmod(folder, 0o755)  # for servers that become somebody else
    return contenders.place(asked.roots.root(at.files), at.files, pathlib.Path(folder), server.free_ports(who.ports(workers)), workers, at.clients,
                            workload.closing, programs)


def load(asked, workload, at, place, ids, cpus, seed, around):
    """What the injector has found; a failure if it has found nothing."""
    told = place.at / "load.json"
    words = around(ids) + injector_words(asked, workload, at, place, ids, told, seed, length_words(asked, workload, at))
    try:
        done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=injector_environment(),
                              timeout=workloads.measured_s(at, asked.seconds) + workloads.warm_up_s(workload, at, asked.seconds) + BEYOND_S,
                              preexec_fn=lambda: os.sched_setaffinity(0, cpus))
    except subprocess.TimeoutExpired:
        raise server.failure("the injector did not end") from None
    return found_by(done.returncode, done.stderr, told)


def is_excused(ended, who):
    """How long another's server takes to end says nothing of what was measured before: Apache waits for each of its connections."""
    return ended.was_killed and who.kind == "rival"


def take(asked, workload, at, who, workers, seed, around=lambda ids: []):
    """Its figures. Raises a failure. `around(processes of the server)`: words of a command that runs the injector."""
    with tempfile.TemporaryDirectory(prefix="bench-web-") as folder:
        place = place_of(asked, workload, at, who, workers, folder, asked.programs)
        served_by, loaded_by = processors(workers)
        running = server.server(who.start(place), place.ports, served_by)
        try:
            running.wait_until_ready()
            found = load(asked, workload, at, place, running.ids, loaded_by, seed, around)
        finally:
            wrong = running.end(who.ends_with)
        if wrong and not is_excused(running, who):
            raise server.failure(wrong)
        return figures.of_run(found) | ({"killed": wrong} if wrong else {})
