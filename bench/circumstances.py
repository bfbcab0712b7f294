"""On what a run was made: commit, machine, compiler and flags."""

import datetime
import os
import pathlib
import platform
import re
import subprocess
import time

import plan

ROOT = pathlib.Path(__file__).resolve().parent.parent


def output_of(*command):
    """Empty if the program is missing, or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def cache_entry(programs, name):
    """An entry of the CMake cache of the build that the programs come from."""
    cache = programs.parent / "CMakeCache.txt"
    found = re.search(rf"^{name}:[^=]*=(.*)$", cache.read_text(), re.MULTILINE) if cache.exists() else None
    return found[1] if found else ""


def busy_share(seconds=1):
    """Of all CPUs' time, what is used by whatever runs now: the load average tells of the last minutes, and of who waits."""
    def times():
        user, nice, system, idle, waiting, *rest = map(int, pathlib.Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:])
        return user + nice + system + sum(rest[:3]), idle + waiting
    used, idle = times()
    time.sleep(seconds)
    used_then, idle_then = times()
    return round((used_then - used) / max(1, used_then - used + idle_then - idle), 3)


def of(programs):
    model = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    compiler = cache_entry(programs, "CMAKE_CXX_COMPILER") or "g++"
    build_type = cache_entry(programs, "CMAKE_BUILD_TYPE")
    flags = cache_entry(programs, f"CMAKE_CXX_FLAGS_{build_type.upper()}") if build_type else ""
    return {
        "commit": output_of("git", "rev-parse", "--short", "HEAD") or "unknown",
        "changed": bool(output_of("git", "status", "--porcelain", "--untracked-files=no")),
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": model[1].strip() if model else platform.processor(),
        "cores": plan.all_workers(),
        "kernel": platform.release(),
        "load_before": os.getloadavg()[0],
        "busy_before": busy_share(),
        "compiler": (output_of(compiler, "--version").splitlines() or [compiler])[0],
        "compiler_path": compiler,
        "flags": f"-std=c++20 {cache_entry(programs, 'CMAKE_CXX_FLAGS')} {flags}".replace("  ", " ").strip(),
    }
