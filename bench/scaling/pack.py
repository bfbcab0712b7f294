"""Gathers what bench/scale needs on a machine that has nothing: programs, libraries, and its own Python files."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

import circumstances
from scaling import cells

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build" / "scale"
TOML = """add_library(tomlplusplus::tomlplusplus INTERFACE IMPORTED)
target_compile_definitions(tomlplusplus::tomlplusplus INTERFACE TOML_HEADER_ONLY=1)
set(tomlplusplus_FOUND TRUE)
"""  # Debian has toml++ as headers and as a shared library, and no other
STATIC = ("-DCMAKE_EXE_LINKER_FLAGS=-static", "-DOPENSSL_USE_STATIC_LIBS=ON")
PYTHON = (
    "scale",
    "circumstances.py",
    "passage.py",
    "plan.py",
    "plot.py",
    "quiet.py",
    "table.py",
    "scaling/*.py",
    "web/contenders.py",
    "web/document_root.py",
    "web/figures.py",
    "web/server.py",
    "web/workloads.py",
    "web/nginx.conf",
)
MOST_MIB = 60
TARGET = "x86_64-unknown-linux-gnu"


class left_out(Exception):
    """A line on what cannot be had."""


def call(words):
    """Ends the program, with what the command has said, if it fails."""
    done = subprocess.run(
        [str(word) for word in words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout[-3000:]}\nbench/scale: {words[0]} ended with {done.returncode}")


def core_programs():
    return [(cells.question_of(key).folder, name) for key in cells.CORE for name in ("tartan_strand", "asio_strand")]


def key_value_programs():
    return [("w14_key_value", name) for name in cells.KEY_VALUE_CONTENDERS]


def build_static():
    """The C++ programs, each a file that needs nothing else."""
    launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={shutil.which('ccache')}"] if shutil.which("ccache") else []
    toml = BUILD / "toml"
    toml.mkdir(parents=True, exist_ok=True)
    (toml / "tomlplusplusConfig.cmake").write_text(TOML)
    call(
        [
            "cmake",
            "--preset",
            "bench",
            "-B",
            BUILD,
            "-DTARTAN_APPS=ON",
            f"-Dtomlplusplus_DIR={toml}",
            *STATIC,
            *launcher,
            "--log-level=WARNING",
        ]
    )
    targets = [f"bench_{folder}_{name}" for folder, name in core_programs() + key_value_programs()]
    call(
        [
            "cmake",
            "--build",
            BUILD,
            "-j",
            str(os.cpu_count()),
            "--target",
            *targets,
            "bench_web_floor",
            "bench_web_beast_strand",
            "tartan-web",
            "tartan-load",
        ]
    )


def built():
    """(program of the build, where it goes)."""
    programs = [
        (BUILD / "bench" / folder / name, f"{folder}/{name}") for folder, name in core_programs() + key_value_programs()
    ]
    return programs + [
        (BUILD / "bench" / "web" / "floor", "web_floor"),
        (BUILD / "bench" / "web" / "beast_strand", "beast_strand"),
        (BUILD / "apps" / "web" / "tartan-web", "tartan-web"),
        (BUILD / "apps" / "load" / "tartan-load", "tartan-load"),
    ]


def build_with_cargo(source, name):
    """The path of a static program by Rust's tokio."""
    if not shutil.which("cargo"):
        raise left_out(f"{name}: there is no cargo")
    copy, made = BUILD / "rust" / f"{name}_source", BUILD / "rust" / name
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy)  # cargo writes beside the sources
    done = subprocess.run(
        ["cargo", "build", "--release", "--target", TARGET, "--target-dir", str(made)],
        cwd=copy,
        capture_output=True,
        text=True,
        env={**os.environ, "RUSTFLAGS": "-C target-feature=+crt-static"},
    )
    if done.returncode != 0:
        raise left_out(f"{name}: cargo says {done.stderr.strip()[-200:]}")
    return made / TARGET / "release" / name


def foreign(package, file):
    """(path of a program of Debian, the folders of its libraries that are not installed)."""
    done = subprocess.run([str(ROOT / "bench" / "web" / "unpack"), package, file], capture_output=True, text=True)
    if done.returncode != 0:
        raise left_out(f"{package}: it cannot be had")
    libraries = ROOT / "build" / "packages" / package / "libraries"
    return pathlib.Path(done.stdout.strip()), libraries.read_text().strip() if libraries.exists() else ""


def libraries_of(path, folders):
    """The files that the loader would load, and the loader."""
    said = subprocess.run(
        ["ldd", str(path)], capture_output=True, text=True, env={**os.environ, "LD_LIBRARY_PATH": folders}
    ).stdout
    if "not found" in said:
        raise left_out(f"{path.name}: lacks libraries")
    found = [pathlib.Path(each) for each in re.findall(r"=> (/\S+)", said)]
    return found, [pathlib.Path(each) for each in re.findall(r"^\s*(/\S*ld-linux\S*)", said, re.MULTILINE)]


def put_foreign(path, name, folders, programs):
    """Copies a program with its libraries and their loader, as the other machine's may be older.

    The loader gets the program's name, because the kernel names a process by the file that it executes. The program
    itself lies among the libraries.
    """
    found, loaders = libraries_of(path, folders)
    put(path, programs / "lib" / name)
    for library in found:
        put(library, programs / "lib" / library.name)
    put(loaders[0], programs / name)


def put(path, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, to)
    to.chmod(0o755)
    subprocess.run(["strip", str(to)], stderr=subprocess.DEVNULL)


def gather_others(programs):
    """Programs of others. Gives lines on those that are missing."""
    missing = []
    rust = (("tokio_task", ROOT / "bench" / "rivals" / "tokio"), ("hyper_files", ROOT / "bench" / "web" / "hyper"))
    debian = (
        ("nginx", "nginx", "usr/sbin/nginx"),
        ("redis-server", "redis-tools", "usr/bin/redis-check-rdb"),  # one program, which looks at its name
        ("redis-benchmark", "redis-tools", "usr/bin/redis-benchmark"),
    )
    for name, source in rust:
        try:
            put(build_with_cargo(source, name), programs / name)
        except left_out as e:
            missing.append(str(e))
    for name, package, file in debian:
        try:
            put_foreign(*foreign_at(package, file, name), programs)
        except left_out as e:
            missing.append(str(e))
    return missing


def foreign_at(package, file, name):
    path, folders = foreign(package, file)
    return path, name, folders


def copy_python(folder):
    for pattern in PYTHON:
        for path in (ROOT / "bench").glob(pattern):
            to = folder / "bench" / path.relative_to(ROOT / "bench")
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, to)


def make(folder):
    """Fills the folder; gives what is said of it."""
    shutil.rmtree(folder, ignore_errors=True)
    programs = folder / "programs"
    build_static()
    for path, to in built():
        put(path, programs / to)
    missing = gather_others(programs)
    copy_python(folder)
    told = {
        name: value
        for name, value in circumstances.of(BUILD / "bench").items()
        if name in ("commit", "changed", "date", "compiler", "flags")
    }
    told["flags"] += " -static"
    told["left_out"] = missing
    (folder / "pack.json").write_text(json.dumps(told, indent=1) + "\n")
    packed = compressed(folder)
    mib = packed.stat().st_size / 2**20
    if mib > MOST_MIB:
        sys.exit(f"bench/scale: {packed} has {mib:.0f} MiB, more than {MOST_MIB}: it would not travel")
    return [f"{folder}, and in one file {packed}: {mib:.1f} MiB"] + [f"left out: {line}" for line in missing]


def compressed(folder):
    """The same in one file beside it, for a way that is narrow."""
    packed = folder.with_name(folder.name + ".tar.xz")
    with tarfile.open(packed, "w:xz") as to:
        to.add(folder, arcname=".")
    return packed
