"""Which versions of the other servers are measured."""

import os
import pathlib
import re
import subprocess

import circumstances
import contenders

# What is called for each, by the package that it comes from.
DEBIAN = {"nginx": "usr/sbin/nginx", "h2o": "usr/bin/h2o", "lighttpd": "usr/sbin/lighttpd", "apache2-bin": "usr/sbin/apache2"}
SHOWN = {"apache2-bin": "Apache"}


def number_in(said):
    """The first version that stands there: `nginx version: nginx/1.22.1`, `h2o version 2.2.5`."""
    found = re.search(r"[ /](\d+(\.\d+)+)", said)
    return found[1] if found else "unknown"


def of_debian(package):
    path, more = contenders.unpacked(package, DEBIAN[package])
    done = subprocess.run([str(path), "-v"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ | more)
    return {SHOWN.get(package, package): number_in(done.stdout)}


def of_beast(programs):
    include = circumstances.cache_entry(programs / "bench", "Boost_INCLUDE_DIR") or "/usr/include"
    header = pathlib.Path(include, "boost", "version.hpp")
    found = re.search(r'^#define BOOST_LIB_VERSION "(.*)"', header.read_text(), re.MULTILINE) if header.exists() else None
    return {"Boost": found[1].replace("_", ".") if found else "unknown"}


def of_hyper(programs):
    """As its manifest pins them; the compiler as bench/web/build saw it."""
    pinned = re.findall(r'^(hyper|tokio) = .*?"=([\d.]+)"', (contenders.HERE / "hyper" / "Cargo.toml").read_text(), re.MULTILINE)
    said = programs / "bench" / "web" / "rivals" / "rustc_version"
    return dict(pinned) | {"rustc": number_in(said.read_text()) if said.exists() else "unknown"}


def of(asked):
    """{name: version} of those that are run."""
    found = {}
    for each in contenders.CONTENDERS:
        if each.kind != "rival" or each.name in asked.missing or asked.contenders and each.name not in asked.contenders:
            continue
        package = "apache2-bin" if each.name.startswith("apache-") else each.name
        found |= of_debian(package) if package in DEBIAN else of_hyper(asked.programs) if package == "hyper" else of_beast(asked.programs)
    return found
