"""What the kernel says about running processes: processor time and context switches, by thread, added up."""

import os
import pathlib

NAMES = ("voluntary", "involuntary")


def descendants(ids):
    """These processes and all that they have started."""
    parents = {}
    for each in pathlib.Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                parents[int(each.name)] = int((each / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError):
                pass  # it has ended meanwhile
    found, more = set(ids), True
    while more:
        more = {child for child, parent in parents.items() if parent in found} - found
        found |= more
    return found


def cpu_s_of(thread):
    """By the scheduler's own clock, where there is one; else in hundredths of a second."""
    try:
        spent = int((thread / "schedstat").read_text().split()[0])
        if spent:
            return spent / 1e9
    except (OSError, ValueError, IndexError):
        pass
    words = (thread / "stat").read_text().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def now(ids):
    """{"cpu_s", "voluntary", "involuntary"} of these processes and their descendants so far."""
    total = dict.fromkeys(("cpu_s",) + NAMES, 0)
    for process in descendants(ids):
        for thread in pathlib.Path(f"/proc/{process}/task").glob("*"):
            try:
                total["cpu_s"] += cpu_s_of(thread)
                for line in (thread / "status").read_text().splitlines():
                    for name in NAMES:
                        if line.startswith(
                            "nonvoluntary_ctxt_switches:" if name == "involuntary" else "voluntary_ctxt_switches:"
                        ):
                            total[name] += int(line.split()[1])
            except OSError:
                pass  # a thread that has ended: its share is lost, but servers keep their threads
    return total


def between(before, after):
    return {name: after[name] - before[name] for name in before}
