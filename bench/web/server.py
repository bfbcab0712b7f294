"""A web server for one run: started, waited for, and ended."""

import os
import resource
import signal
import socket
import subprocess
import tempfile
import time

READY_S = 60  # prefork starts a thousand processes
END_S = 10
LOOK_S = 0.01


class failure(Exception):
    """Of a server; a line."""


def free_ports(count):
    """Ports that nobody listens on now."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = tuple(probe.getsockname()[1] for probe in probes)
    for probe in probes:
        probe.close()
    return ports


def allow_descriptors():
    """As many as the hard limit allows, for all that is started from here."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


class server:
    """With `cpus`, a set, all its threads stay on these."""

    def __init__(self, launches, ports, cpus=()):
        self.complaints = tempfile.TemporaryFile()
        self.ports = ports
        self.was_killed = False
        self.processes = []
        for each in launches:
            # A group of its own, so that nobody is left of it.
            self.processes.append(subprocess.Popen(
                each.words, env=each.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.complaints, start_new_session=True,
                preexec_fn=(lambda: os.sched_setaffinity(0, cpus)) if cpus else None))

    @property
    def ids(self):
        return [process.pid for process in self.processes]

    def said(self):
        self.complaints.seek(0)
        return self.complaints.read().decode(errors="replace").strip()[-300:]

    def wait_until_ready(self):
        until = time.monotonic() + READY_S
        for port in self.ports:
            while not self.accepts(port):
                for process in self.processes:
                    if process.poll() is not None:
                        raise failure(f"ended at once, with {process.returncode}: {self.said()}")
                if time.monotonic() > until:
                    raise failure(f"did not listen within {READY_S} s: {self.said()}")
                time.sleep(LOOK_S)  # a foreign server tells nobody that it listens

    @staticmethod
    def accepts(port):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            return False

    def end(self, well=(0, -signal.SIGTERM), within_s=END_S):
        """By SIGTERM, then by SIGKILL; what was wrong with its end, or nothing. `well`: the exit statuses of one that has ended well."""
        for process in self.processes:
            process.terminate()
        until, wrong = time.monotonic() + within_s, []
        for process in self.processes:
            try:
                process.wait(max(0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                self.was_killed = True
                wrong.append(f"did not end within {within_s} s of SIGTERM")
            # Whoever is left of its group: it may be a child that is its own.
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            if not wrong and process.returncode not in well:
                wrong.append(f"ended with {process.returncode}: {self.said()}")
        self.complaints.close()
        return "; ".join(wrong)
