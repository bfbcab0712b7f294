"""The program under test, and what it says."""
import json
import pathlib
import resource
import subprocess

from odd_server import PATIENCE_S, response

PROGRAM = ""
SCRATCH = pathlib.Path()
TESTS = []
SOME = ("--clients", "4", "--requests", "100", "--warm-up", "0")
SHORTLY = ("--clients", "4", "--seconds", "0.5", "--warm-up", "0")


def test(function):
    TESTS.append(function)
    return function


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(each) for each in what) or "not as expected")


def run(*options, status=0, **more):
    """The result as JSON."""
    done = subprocess.run([PROGRAM, "http", "--json", "-", *options], capture_output=True, text=True, timeout=PATIENCE_S, check=False, **more)
    expect(done.returncode == status, "ended with", done.returncode, done.stdout, done.stderr)
    return json.loads(done.stdout) if done.stdout else done.stderr


def few_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (1000, 1000))


def errors_of(result):
    return {kind: number for kind, number in result["errors"].items() if number}


def right(one, _):
    one.send(response())


def only(result, kind):
    expect(list(errors_of(result)) == [kind], result["errors"])
