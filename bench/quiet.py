"""How quiet the machine is: a fixed loop, timed before and after each run.

The loop runs on every CPU at once, in a process bound to each, for some milliseconds. On a quiet machine it always
takes the same time. A neighbor on one of the CPUs, another virtual machine on the same core, or a lower clock rate
makes it longer.
"""

import os
import struct
import time

MOVED = 1.1  # from one time of the loop to the next: beyond it, the run between them is marked
STEPS = 20_000  # of the loop: some 2 ms
TRIES = 3  # of each CPU; the fastest counts, for an interrupt is no neighbor
MOST_CPUS = 8  # that are timed: more would take longer to start than to time


def spin(steps):
    """The loop. Gives what it took, in ms."""
    began, x = time.perf_counter(), 1
    for _ in range(steps):
        x = (x * 1103515245 + 12345) & 0x7FFFFFFF
    return (time.perf_counter() - began) * 1e3


def timed_cpus():
    """Evenly spread over those that this process may use."""
    usable = sorted(os.sched_getaffinity(0))
    every = max(1, len(usable) // MOST_CPUS)
    return usable[::every][:MOST_CPUS]


def time_on(cpu, to):
    """In a child: writes the loop's time into the pipe and ends the process."""
    try:
        os.sched_setaffinity(0, {cpu})
        os.write(to, struct.pack("d", min(spin(STEPS) for _ in range(TRIES))))
    finally:
        os._exit(0)


def loop_ms():
    """The loop's time on the slowest CPU."""
    seen, to = os.pipe()
    children = []
    for cpu in timed_cpus():
        child = os.fork()
        if child == 0:
            time_on(cpu, to)
        children.append(child)
    os.close(to)
    told = b""
    while piece := os.read(seen, 4096):
        told += piece
    os.close(seen)
    for child in children:
        os.waitpid(child, 0)
    return round(max(each[0] for each in struct.iter_unpack("d", told)), 4)


def has_moved(before_ms, after_ms):
    return max(before_ms, after_ms) > MOVED * min(before_ms, after_ms)


class watch:
    """Times the loop between runs: the time after one is the time before the next."""

    def __init__(self, time_loop=loop_ms):
        self.time_loop = time_loop
        self.before_ms = time_loop()

    def look(self):
        """What stands in the record of the run that has just ended."""
        before_ms, self.before_ms = self.before_ms, self.time_loop()
        told = {"loop_before_ms": before_ms, "loop_after_ms": self.before_ms}
        if has_moved(before_ms, self.before_ms):
            told["machine_moved"] = True
        return told


def sentence(runs):
    """How quiet the machine was; empty if no run of the record was watched."""
    watched = [run for run in runs if "loop_before_ms" in run]
    if not watched:
        return ""
    times = [run[name] for run in watched for name in ("loop_before_ms", "loop_after_ms")]
    moved = sum("machine_moved" in run for run in watched)
    return (
        f"The fixed loop took {min(times):.3g} to {max(times):.3g} ms; "
        f"it moved by more than {round((MOVED - 1) * 100)} % during {moved} of {len(watched)} runs."
    )
