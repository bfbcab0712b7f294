"""Tests of clients that ask for what is rare, that break off, and that are many."""
import errno
import os
import pathlib
import re
import resource
import select
import socket
import subprocess
import tempfile
import threading

import harness
from harness import LARGE, expect, get, server, test, wait_until


def with_descriptors(number):
    """For a child: as many may be open. One that has fewer itself says so."""
    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (number, number))
    return limit


@test
def a_refusal_of_head_has_no_body_either():
    requests = [(400, b"HEAD / HTTP/1.1\r\n\r\n"), (400, get("/", "Host: b\r\n", method="HEAD")), (505, get("/", method="HEAD", version="2.0")),
                (413, get("/", "Content-Length: 1048577\r\n", method="HEAD")), (414, b"HEAD /" + b"a" * 9000),
                (431, b"HEAD / HTTP/1.1\r\nX: " + b"y" * 33000), (400, get("/", "Transfer-Encoding: gzip\r\n", method="HEAD")),
                (501, get("/", "Transfer-Encoding: gzip, chunked\r\n", method="HEAD")),
                (400, get("/", "Transfer-Encoding: chunked\r\n", method="HEAD") + b"x\r\n")]
    with server() as s:
        for expected, request in requests:
            got = s.ask(request)
            expect(got.startswith(b"HTTP/1.1 %d " % expected), request[:60], got[:200])
            expect(got.count(b"\r\n\r\n") == 1 and got.endswith(b"\r\n\r\n"), request[:60], got)
    with server("--header-timeout", "0.2") as s, s.connect() as c:
        c.send(b"HEAD / HTTP/1.1\r\nHos")
        got = c.rest()
        expect(got.startswith(b"HTTP/1.1 408 ") and got.endswith(b"\r\n\r\n"), got)


@test
def an_empty_line_is_no_request():
    with server("--header-timeout", "0.2", "--idle-timeout", "0.4") as s, s.connect() as c:
        expect(c.get("/page.html")[0] == 200)
        c.send(b"\r\n")
        expect(c.is_closed(), "as an idle connection: without a word")
    with server() as s, s.connect() as c:
        for _ in range(3):
            c.send(b"\r\n")
            expect(c.get("/page.html")[0] == 200)


@test
def who_connects_and_says_nothing_has_as_long_as_for_a_head():
    with server("--header-timeout", "0.2") as s:
        with s.connect() as c:
            expect(c.is_closed())
        with s.connect() as c:
            c.send(b"\r\n")
            expect(c.is_closed())


@test
def names_with_a_dot_first_are_given_out_if_that_is_asked_for():
    for name in (".git", ".well-known"):
        (harness.ROOT / name).mkdir(exist_ok=True)
    for name in (".git/config", ".well-known/security.txt", ".well-known/.hidden", ".env", "visible"):
        (harness.ROOT / name).write_text("a secret")
    hidden = ("/.git/config", "/.git/", "/%2egit/config", "/.env", "/.well-known/.hidden", "/nothing/../.env")
    with server() as s, s.connect() as c:
        for path in hidden:
            expect(c.get(path)[0] in (403, 404), path)
        for path in ("/.well-known/security.txt", "/visible"):
            expect(c.get(path)[0] == 200, path)
    with server("--dot-files") as s, s.connect() as c:
        for path in hidden:
            expect(c.get(path)[0] == (404 if path == "/.git/" else 403 if ".." in path else 200), path)


@test
def chunks_are_dropped_and_the_next_request_found():
    with server() as s, s.connect() as c:
        inside = b"GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n" * 1000
        body = b"%x;name=value\r\n%s\r\n%x \t; name = value\r\n%s\r\n" % ((len(inside), inside) * 2) * 10 + b"0 ;\r\nTrailer: a\r\n\r\n"
        for method, status in (("POST", 405), ("GET", 200)):
            c.send(get("/page.html", "Transfer-Encoding: chunked\r\n", method=method) + body + get("/style.css"))
            expect(c.response()[0] == status, method)
            expect(c.response()[2] == b"p {}\n", method)


@test
def chunks_that_are_none_or_too_many_are_refused():
    for status, body in ((400, b"x\r\n"), (400, b"1\r\nxx\r\n"), (400, b"1 \r\nx\r\n0\r\n\r\n"), (400, b"1 0;a=b\r\nx\r\n0\r\n\r\n"),
                         (400, b"0\r\nno field\r\n\r\n"), (413, b"100001\r\n"), (413, b"80000\r\n" + b"x" * 0x80000 + b"\r\n80000\r\n")):
        for method in ("POST", "GET"):
            with server() as s, s.connect() as c:
                c.send(get("/page.html", "Transfer-Encoding: chunked\r\n", method=method) + body + get("/page.html"))
                expect(c.response()[0] == status, method, body[:20])
                expect(c.is_closed(), body[:20])


@test
def chunks_that_do_not_come_end_the_connection():
    with server("--idle-timeout", "0.2") as s, s.connect() as c:
        c.send(get("/", "Transfer-Encoding: chunked\r\n", method="POST") + b"5\r\nx")
        expect(c.response()[0] == 408)
        expect(c.is_closed())


@test
def a_client_that_half_closes_and_goes_in_the_middle_of_a_file_ends_nothing_else():
    with server() as s, s.connect() as good:
        def come_and_go():
            for _ in range(50):
                with s.connect(receive_buffer=4096) as c:
                    c.send(get("/large.bin"))
                    c.finish()
                    c.receive()  # the rest is unread: what the server sends next is answered by a reset
        several = [threading.Thread(target=come_and_go) for _ in range(4)]
        for each in several:
            each.start()
        for each in several:
            each.join()
        expect(good.get("/large.bin")[2] == LARGE)


@test
def stalled_downloads_of_one_file_leave_descriptors_for_all_others():
    complaint = "tartan-web: 75 connections at a time instead of 10000: this process may open 130 files (LimitNOFILE=, ulimit -n)\n"
    path = harness.ROOT / "huge.bin"
    path.touch()
    os.truncate(path, 64 << 20)  # nothing on the disk, and more than the system takes for a client that does not read
    with server("--recheck", "0", preparation=with_descriptors(130), complaint=complaint) as s, s.connect() as hot:
        expect(hot.get("/page.html")[0] == 200)
        stalled = [s.connect(receive_buffer=4096) for _ in range(70)]
        for each in stalled:  # one after the other: each asks for the file anew
            each.send(get("/huge.bin"))
            expect(each.receive() and each.got.startswith(b"HTTP/1.1 200 "), each.got[:100])
        for _ in range(5):
            expect(hot.get("/page.html")[0] == 200)
            expect(hot.get("/huge.bin")[0] == 200)
        with s.connect() as late:
            expect(late.get("/style.css")[0] == 200)
        for each in stalled:
            each.reset()


@test
def folders_of_many_hosts_leave_descriptors_for_clients():
    with tempfile.TemporaryDirectory() as folder:
        config = pathlib.Path(folder, "web.toml")

        def started(hosts):
            lines = ['listen = "127.0.0.1:0"', "workers = 2"]
            for n in range(hosts):
                lines += ["[[host]]", f'names = ["host{n}"]', f'root = "{harness.ROOT}"']
            config.write_text("\n".join(lines) + "\n")
            return subprocess.Popen([harness.PROGRAM, "--config", str(config)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                    preexec_fn=with_descriptors(600))

        many = started(200)
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)", many.stdout.readline())[1])
        said = re.match(r"tartan-web: (\d+) connections at a time instead of 10000: this process may open 600 files", many.stderr.readline())
        expect(said and int(said[1]) < 150, said)
        everybody = [harness.client(port) for _ in range(300)]
        for each in everybody[:50]:
            expect(each.get("/page.html")[0] == 200)
        for each in everybody:
            each.socket.close()
        many.terminate()
        errors = many.communicate(timeout=harness.PATIENCE_S)[1]
        expect(many.returncode == 0 and errors == "", many.returncode, errors)
        too_many = started(400)
        errors = too_many.communicate(timeout=harness.PATIENCE_S)[1]
        expect(too_many.returncode == 2 and errors.startswith("tartan-web: 400 hosts need ") and errors.count("\n") == 1, errors)


@test
def want_of_descriptors_is_told_with_its_name():
    with server(complaint=harness.SHORT_OF_DESCRIPTORS) as s, s.connect() as c:
        expect(c.get("/page.html")[0] == 200)
        open_now = len(os.listdir(f"/proc/{s.process.pid}/fd"))
        resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE, (open_now, open_now))
        with s.connect() as waiting:
            waiting.send(get("/page.html"))
            expect(select.select([s.process.stderr], [], [], harness.PATIENCE_S)[0], "not a word")
            c.socket.close()
            expect(waiting.response()[0] == 200)


def sent_and_not_taken(port):
    """Bytes that the kernel keeps for the one client that is connected."""
    at = f"0100007F:{port:04X}"
    lines = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()]
    return max((int(line[4].split(":")[0], 16) for line in lines if line[1] == at and line[3] == "01"), default=0)


@test
def a_client_that_does_not_read_costs_the_kernel_little():
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "large.bin").write_bytes(bytes(16 << 20))
        (pathlib.Path(folder) / "page.html").write_bytes(b"page")
        with server(root=folder) as s, s.connect() as slow:
            slow.send(get("/large.bin"))
            wait_until(lambda: sent_and_not_taken(s.port) > 16384, "a send buffer that fills")
            before = -1
            while (now := sent_and_not_taken(s.port)) != before:  # until it grows no more
                before = now
                for _ in range(200):
                    with s.connect() as c:
                        expect(c.get("/page.html")[0] == 200)
            expect(now <= 512 * 1024, now, "bytes are kept")


@test
def a_file_that_is_cut_while_it_is_sent_ends_or_comes_as_it_was():
    whole = bytes((n + n // 256 + n // 65536) % 256 for n in range(4 << 20))
    options = ("--cache-bytes", "268435456", "--largest-page", "1048576")
    with tempfile.TemporaryDirectory() as folder, server(*options, root=folder, complaint=harness.WRITTEN_TO) as s:
        for size, left in ((4 << 20, 65636), (4 << 20, 100), (4 << 20, 1 << 20), (4 << 20, 0), (500_000, 100)):
            path = pathlib.Path(folder) / f"{size}-{left}"
            path.write_bytes(whole[:size])
            with s.connect(receive_buffer=4096) as slow:
                slow.send(get(f"/{path.name}"))
                while b"\r\n\r\n" not in slow.got:
                    expect(slow.receive(), slow.got)
                os.truncate(path, left)
                end = slow.got.index(b"\r\n\r\n") + 4 + size
                while len(slow.got) < end and slow.receive():
                    pass
                body = slow.got.partition(b"\r\n\r\n")[2]
                expect(whole.startswith(body), size, left, len(body))
                expect(len(body) == size if size <= 1 << 20 else len(body) < size, size, left, len(body))


@test
def a_client_that_is_cut_off_leaves_nothing_behind():
    with server("--write-timeout", "0.2") as s, s.connect(receive_buffer=4096) as stalled:
        stalled.send(get("/large.bin") * 20)
        wait_until(lambda: sent_and_not_taken(s.port) == 0 and stalled.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) in
                           (errno.ECONNRESET, errno.EPIPE), "a reset")
