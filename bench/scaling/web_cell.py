"""A run of H1 or H2: a server on its CPUs, under a load on its own."""

import json
import os
import pathlib
import subprocess
import tempfile
import time

import contenders
import document_root
import figures
import server
from scaling import cells, usage
from scaling.core_cell import failure, program

WANTED_S = 0.5
WARM_UP_S = 0.2
CLIENTS = 200
MOST_LOAD_THREADS = 8
PROGRAMS = {
    "floor": "web_floor",
    "tartan_web": "tartan-web",
    "asio_beast": "beast_strand",
    "tokio_hyper": "hyper_files",
    "nginx": "nginx",
}
BEYOND_S = 10  # what a load may take more than it was asked for


class served:
    """A running server. `cpus`: its own."""

    def __init__(self, words, port, cpus):
        self.port = port
        self.running = server.server([contenders.launch(tuple(words))], (port,), cpus)
        try:
            self.running.wait_until_ready()
        except server.failure as e:
            self.end()
            raise failure(str(e)) from None

    @property
    def ids(self):
        return self.running.ids

    def end(self):
        self.running.end(within_s=2)  # how it ends is no figure


def load_output(words, cpus, limit_s, statuses=(0,)):
    try:
        done = subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            timeout=limit_s,
            preexec_fn=lambda: os.sched_setaffinity(0, cpus),
        )
    except subprocess.TimeoutExpired:
        raise failure(f"the load did not end within {limit_s:.0f} s") from None
    if done.returncode not in statuses:
        raise failure(f"the load ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-200:]}")
    return done.stdout


def switches(used, count):
    return {f"{name}_switches_per_1000": used[name] * 1e3 / count for name in usage.NAMES}


def web_words(cell, programs, root, folder, port):
    at = contenders.place(root, "page", folder, (port,), cell.workers, CLIENTS, False, programs)
    if cell.contender == "nginx":
        conf = contenders.filled("nginx.conf", at, SENDFILE="off", REUSEPORT=" reuseport" if cell.workers > 1 else "")
        return program(programs, "nginx") + ["-p", str(folder), "-c", conf, "-e", "stderr"]
    if cell.contender == "tartan_web":
        return [
            str(programs / "tartan-web"),
            "--root",
            str(root),
            "--listen",
            f"127.0.0.1:{port}",
            "--workers",
            str(cell.workers),
            *contenders.WEB_OPTIONS,
        ]
    return [str(programs / PROGRAMS[cell.contender]), str(root), str(port), str(cell.workers)]


def injector_words(cell, programs, port, root, ids, told, load):
    words = [
        str(programs / "tartan-load"),
        "http",
        "--url",
        f"http://127.0.0.1:{port}/page.html",
        "--body",
        str(root / "page.html"),
        "--clients",
        str(CLIENTS),
        "--requests-per-connection",
        str(cells.REQUESTS_PER_CONNECTION[cell.question]),
        "--seconds",
        f"{WANTED_S:g}",
        "--warm-up",
        f"{WARM_UP_S:g}",
        "--workers",
        str(min(len(load), MOST_LOAD_THREADS)),
        "--json",
        str(told),
    ]
    return words + [word for each in ids for word in ("--server", str(each))]


def run(cell, programs, places):
    on, load = places.of(cell.workers)
    with tempfile.TemporaryDirectory(prefix="bench-scale-") as made:
        folder = pathlib.Path(made)
        os.chmod(folder, 0o755)
        root = document_root.document_roots(None, None, folder).root("page")
        port, told = server.free_ports(1)[0], folder / "load.json"
        running = served(web_words(cell, programs, root, folder, port), port, on)
        try:
            before, began = usage.now(running.ids), time.monotonic()
            load_output(
                injector_words(cell, programs, port, root, running.ids, told, load),
                load,
                WANTED_S + WARM_UP_S + BEYOND_S,
                (0, 1),
            )
            used, lasted = usage.between(before, usage.now(running.ids)), time.monotonic() - began
        finally:
            running.end()
        if not told.exists():
            raise failure("the load wrote no result")
        found = figures.of_run(json.loads(told.read_text()))
    if not found["requests"] or found["errors"]:
        raise failure(f"{found['requests']} requests, {found['errors']} errors: {found.get('errors_by_kind')}")
    # Switches are of the whole load, warm-up included, at the rate that was measured.
    return {
        "size": found["requests"],
        "wall_s": found["seconds"],
        "per_s": found["requests_per_s"],
        "cpu_us": found["cpu_us"],
        "p99_us": found["p99_us"],
        "cpus_used": found["cpu_us"] * found["requests_per_s"] / 1e6,
        **switches(used, found["requests_per_s"] * lasted),
    }
