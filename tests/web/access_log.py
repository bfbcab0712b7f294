"""The access log: a line for each answer, whatever the disk and the clients do."""
import os
import pathlib
import re
import signal
import subprocess
import tempfile

from harness import LARGE, expect, get, server, test, wait_until

LINE = re.compile(r'127\.0\.0\.1 - - \[(\d\d/\w{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "([^"]*)" (\d+) (\d+) "([^"]*)" "([^"]*)"')


def lines_of(path):
    """What each line says, but for client and time; all have to be whole."""
    found = []
    for line in path.read_text().splitlines():
        match = LINE.fullmatch(line)
        expect(match, line)
        found.append(match.groups()[1:])
    return found


def wait_for_lines(path, count):
    wait_until(lambda: path.exists() and path.read_text().count("\n") >= count, f"{count} lines")
    return lines_of(path)


class logged:
    """A server with a log in a folder of its own: (server, the log's path)."""
    def __init__(self, *options):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name, "access.log")
        self.server = server("--access-log", str(self.path), *options)

    def __enter__(self):
        return self.server.__enter__(), self.path

    def __exit__(self, *what):
        ended = self.server.__exit__(*what)
        self.folder.cleanup()
        return ended


@test
def each_answer_has_a_line():
    with logged() as (s, path), s.connect() as c:
        c.get("/page.html", "Referer: http://a/b\r\nUser-Agent: some agent\r\n")
        c.get("/nothing")
        c.send(get("/page.html", "", "HEAD"))
        c.response(with_body=False)
        c.get("/large.bin")
        c.get("/large.bin", "Range: bytes=0-9\r\n")
        c.send(b"POST / HTTP/1.1\r\nHost: a\r\n\r\n")
        c.response()
        c.send(b"nonsense\r\n\r\n")
        c.response()
        found = wait_for_lines(path, 7)
        expect(found[0] == ("GET /page.html HTTP/1.1", "200", "12", "http://a/b", "some agent"), found[0])
        expect([each[:3] for each in found[1:]] == [("GET /nothing HTTP/1.1", "404", "14"), ("HEAD /page.html HTTP/1.1", "200", "0"),
                                                    ("GET /large.bin HTTP/1.1", "200", str(len(LARGE))), ("GET /large.bin HTTP/1.1", "206", "10"),
                                                    ("POST / HTTP/1.1", "405", "23"), ("nonsense", "400", "16")], found)
        expect(all(each[3:] == ("-", "-") for each in found[1:]), found)


@test
def a_client_cannot_make_up_a_line():
    with logged() as (s, path), s.connect() as c:
        c.send(b'GET /page.html HTTP/1.1\r\nHost: a\r\nUser-Agent: a" \\ \xe4\tb\r\n\r\n')
        c.response()
        c.get("/" + "a" * 2000)
        found = wait_for_lines(path, 2)
        expect(found[0][4] == "a\\x22 \\x5c \\xe4\\x09b", found[0])
        expect(len(found[1][0]) == 1024, len(found[1][0]))


@test
def nothing_is_lost_at_the_end():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "access.log")
        with server("--access-log", str(path)) as s, s.connect() as c:
            for _ in range(100):
                c.send(get("/page.html") * 10)
                for _ in range(10):
                    c.response()
        expect(len(lines_of(path)) == 1000)


@test
def a_log_that_was_renamed_is_begun_anew():
    with logged() as (s, path), s.connect() as c:
        c.get("/page.html")
        wait_for_lines(path, 1)
        old = path.rename(path.with_suffix(".1"))
        c.get("/nothing")
        wait_for_lines(old, 2)
        s.process.send_signal(signal.SIGHUP)
        wait_until(path.exists, "the new file")
        c.get("/page.html")
        expect(wait_for_lines(path, 1)[0][0] == "GET /page.html HTTP/1.1")
        expect(len(lines_of(old)) == 2)


@test
def a_log_that_was_renamed_is_begun_anew_by_a_signal_of_its_own():
    with logged() as (s, path), s.connect() as c:
        for number in range(3):
            c.get("/page.html")
            wait_for_lines(path, 1)
            old = path.rename(path.with_suffix(f".{number}"))
            s.process.send_signal(signal.SIGUSR1)
            wait_until(path.exists, "the new file")
            expect(len(lines_of(old)) == 1)
    with server() as s, s.connect() as c:  # without a log nothing happens
        s.process.send_signal(signal.SIGUSR1)
        expect(c.get("/page.html")[0] == 200)


@test
def a_full_disk_costs_lines_and_no_answers():
    complaint = "tartan-web: lines of the access log that are lost: 2 (No space left on device)\n"
    with server("--access-log", "/dev/full", complaint=complaint) as s, s.connect() as c:
        c.send(get("/page.html") * 2)
        for _ in range(2):
            expect(c.response()[0] == 200)


def is_waiting(pid):
    """Whether a process sleeps, as one does that opens a pipe to read, until somebody opens it to write."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "S"


@test
def a_reader_of_a_pipe_may_be_there_before():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "pipe")
        os.mkfifo(path)
        for _ in range(5):
            with subprocess.Popen(["cat", str(path)], stdout=subprocess.PIPE, text=True) as reader:
                try:
                    wait_until(lambda pid=reader.pid: is_waiting(pid), "cat to wait for who writes")
                    with server("--access-log", str(path), "--drain-timeout", "0") as s, s.connect() as c:
                        expect(c.get("/page.html")[0] == 200)
                    lines = reader.stdout.read().splitlines()
                except BaseException:
                    reader.kill()  # else it would wait on, and be waited for
                    raise
            expect(len(lines) == 1 and LINE.fullmatch(lines[0]), lines)


@test
def a_reader_that_ends_costs_lines_and_no_answers():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "pipe")
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        complaint = "tartan-web: lines of the access log that are lost: 1 (Broken pipe)\n"
        with server("--access-log", str(path), "--drain-timeout", "0", complaint=complaint) as s, s.connect() as c:
            os.close(reader)
            expect(c.get("/page.html")[0] == 200)


@test
def a_line_that_was_torn_stays_alone():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "log")
        path.write_text("half a li")
        with server("--access-log", str(path), "--drain-timeout", "0") as s, s.connect() as c:
            c.get("/page.html")
        torn, line = path.read_text().splitlines()
        expect(torn == "half a li" and LINE.fullmatch(line), line)


@test
def a_disk_that_hangs_does_not_keep_the_server():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "pipe")
        os.mkfifo(path)
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # and never reads: a pipe takes 64 KB
        complaint = "tartan-web: the disk does not answer: what it was asked to read or write is given up\n"
        with server("--access-log", str(path), "--drain-timeout", "0", complaint=complaint) as s, s.connect() as c:
            for _ in range(100):
                expect(c.get("/page.html", "User-Agent: " + "a" * 1000 + "\r\nReferer: " + "b" * 1000 + "\r\n")[0] == 200)
            s.end(status=1)
        os.close(reader)
