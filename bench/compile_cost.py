"""Seconds that an include adds to a compile, over the compile of an empty file."""

import pathlib
import statistics
import subprocess
import tempfile
import time

# Boost 1.74's own header lacks <utility>, without which it does not compile as C++20.
HEADERS = {"empty": "", "tartan": "#include <tartan/tartan.h>\n", "boost_asio": "#include <utility>\n#include <boost/asio.hpp>\n"}


def seconds(compiler, source, include):
    start = time.monotonic()
    done = subprocess.run([compiler, "-std=c++20", "-O2", "-c", "-I", str(include), str(source), "-o", "/dev/null"], capture_output=True)
    return time.monotonic() - start if done.returncode == 0 else None


def measure(compiler, include, rounds):
    """{header: (median, minimum, maximum) of what it adds}, interleaved; a header that does not compile is left out."""
    taken = {name: [] for name in HEADERS}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in HEADERS.items():
            (pathlib.Path(folder) / f"{name}.cpp").write_text(text)
        for _ in range(rounds):
            for name in HEADERS:
                taken[name].append(seconds(compiler, pathlib.Path(folder) / f"{name}.cpp", include))
    added = {}
    for name in HEADERS:
        if name != "empty" and None not in taken[name]:
            over = [took - empty for took, empty in zip(taken[name], taken["empty"])]
            added[name] = (statistics.median(over), min(over), max(over))
    return added
