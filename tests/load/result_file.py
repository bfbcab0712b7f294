"""Where the result goes, and when."""
import json
import os
import resource
import select
import socket
import subprocess

import harness
from harness import SOME, errors_of, expect, few_descriptors, right, test
from odd_server import PATIENCE_S, odd_server, response


def run_to(path, *options, **more):
    """The program's end, with the result in a file."""
    return subprocess.run([harness.PROGRAM, "http", "--json", str(path), *options], stderr=subprocess.PIPE, text=True, timeout=PATIENCE_S, check=False,
                          **({"stdout": subprocess.PIPE} | more))


@test
def a_result_that_cannot_be_written_is_told_before_anything_is_begun():
    wrong = harness.SCRATCH / "no folder" / "x"
    with odd_server(right) as s, socket.create_server(("127.0.0.1", 0)) as master:
        place = "127.0.0.1:%d" % master.getsockname()[1]
        for asked in (("--url", s.url(), *SOME), ("--url", s.url(), "--master", "127.0.0.1:0", "--injectors", "1"), ("--join", place)):
            done = run_to(wrong, *asked)
            expect(done.returncode == 2 and done.stdout == "", done)
            expect(done.stderr == f"tartan-load: cannot write {wrong}: No such file or directory\n", done.stderr)
            expect(s.connections == 0 and not select.select([master], [], [], 0)[0], "somebody was asked")


@test
def a_file_gets_the_result_and_nothing_else():
    for before in (None, "", "x", "x" * 100_000):
        path = harness.SCRATCH / "result.json"
        if before is not None:
            path.write_text(before)
        meanwhile = []
        def look(one, _, path=path, meanwhile=meanwhile):
            if one.asked == 1:
                meanwhile.append(path.read_text() if path.exists() else None)
            one.send(response())
        with odd_server(look) as s:
            done = run_to(path, "--url", s.url(), "--clients", "1", "--requests", "100", "--warm-up", "0")
        expect(meanwhile == [before], meanwhile)
        result = json.loads(path.read_text())
        expect(done.returncode == 0 and result["requests"] == 100 and errors_of(result) == {}, done, result)
        path.unlink()


@test
def a_run_without_a_result_leaves_the_file_as_it_was():
    old, new = harness.SCRATCH / "old.json", harness.SCRATCH / "new.json"
    old.write_text("dear")
    for path in (old, new):
        expect(run_to(path, "--url", "http://127.0.0.1:1/", "--clients", "2000", preexec_fn=few_descriptors).returncode == 2, "ulimit")
        with subprocess.Popen([harness.PROGRAM, "http", "--json", str(path), "--url", "http://127.0.0.1:1/", "--master", "127.0.0.1:0", "--injectors", "1"],
                              stderr=subprocess.PIPE, text=True) as master:
            master.stderr.readline()
            master.kill()
    expect(old.read_text() == "dear" and not new.exists(), old.read_text(), new.exists())


@test
def a_result_that_cannot_be_written_in_the_end_is_told_all_the_same():
    path = harness.SCRATCH / "full.json"
    path.write_text("dear")
    def no_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
    for each, why, more in (("/dev/full", "No space left on device", {}), (path, "File too large", {"preexec_fn": no_room})):
        with odd_server(right) as s:
            done = run_to(each, "--url", s.url(), *SOME, **more)
        expect(done.returncode == 2 and done.stderr == f"tartan-load: cannot write {each}: {why}\n", done)
        expect(json.loads(done.stdout.splitlines()[-1])["requests"] == 100, done.stdout)
    expect(path.read_text() == "dear", path.read_text())


@test
def the_result_may_be_written_to_what_is_no_file():
    fifo, out = harness.SCRATCH / "fifo", harness.SCRATCH / "out"
    os.mkfifo(fifo)
    with odd_server(right) as s:
        asked = ("--url", s.url(), *SOME)
        expect(run_to("/dev/null", *asked).returncode == 0, "nowhere")
        expect(json.loads(run_to("/dev/stdout", *asked).stdout.splitlines()[-1])["requests"] == 100, "a pipe")
        with out.open("w") as stdout:
            expect(run_to("/dev/stdout", *asked, stdout=stdout).returncode == 0, "a file with two names")
        expect(json.loads(out.read_text())["requests"] == 100, out.read_text())
        reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
        expect(run_to(fifo, *asked).returncode == 0, "a FIFO")
        expect(json.loads(os.read(reader, 1 << 16))["requests"] == 100, "its reader")
        os.close(reader)
