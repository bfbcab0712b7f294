"""What the exit status says, and the line that explains it."""
import json
import signal
import subprocess

import harness
from harness import SHORTLY, SOME, expect, right, test
from odd_server import PATIENCE_S, odd_server, response


def status_of(s, *options):
    """(exit status, its explanation); the result has to be there all the same."""
    done = subprocess.run([harness.PROGRAM, "http", "--json", "-", "--url", s.url(), *options], capture_output=True,
                          text=True, timeout=PATIENCE_S)
    json.loads(done.stdout)
    return done.returncode, done.stderr


NONE = "tartan-load: exit status 1: not one right answer in the measured time"


@test
def it_is_0_if_all_answers_were_right():
    with odd_server(right) as s:
        expect(status_of(s, *SOME) == (0, ""))


@test
def it_is_1_if_no_answer_came_though_there_was_no_error():
    """Within --timeout nothing is an error: the load ends before."""
    with odd_server(lambda one, _: one.wait_for_end()) as s:
        for loop in ((), ("--rate", "100")):
            got = status_of(s, *SHORTLY, *loop)
            expect(got == (1, NONE + "\n"), got)


@test
def it_is_1_if_all_answers_were_wrong():
    with odd_server(lambda one, _: one.send(response(b"gone", "404 Not Found"))) as s:
        status, said = status_of(s, *SHORTLY)
    expect(status == 1 and said.startswith(NONE + "; ") and said.endswith(" errors\n"), said)


@test
def it_is_1_if_one_answer_was_wrong():
    def answer(one, _):
        return one.send(response(status="503 Service Unavailable") if one.number == 1 and one.asked == 2 else response())
    with odd_server(answer) as s:
        got = status_of(s, "--clients", "2", "--requests", "100", "--warm-up", "0")
    expect(got == (1, "tartan-load: exit status 1: 1 error\n"), got)


@test
def it_is_1_if_a_signal_came_before_the_first_answer_that_counts():
    with odd_server(right) as s:
        program = subprocess.Popen([harness.PROGRAM, "http", "--json", "-", "--url", s.url(), "--warm-up", "1000", "--progress"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        program.stderr.readline()
        program.send_signal(signal.SIGTERM)
        out, err = program.communicate(timeout=PATIENCE_S)
    expect(program.returncode == 1 and json.loads(out)["requests"] == 0 and err.endswith(NONE + "\n"), program.returncode, err)
