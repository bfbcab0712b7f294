"""The program under test, a client that speaks HTTP by plain sockets, and a folder to serve."""
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import time

PROGRAM = ""
ROOT = pathlib.Path()
PATIENCE_S = 60  # until a test that waits for something counts as failed
LARGE = bytes(range(256)) * 8192  # 2 MiB: beyond what is kept in memory, and what a socket's buffers hold
TESTS = []
# What is said once a second of files that change while they are sent.
WRITTEN_TO = re.compile(r"(tartan-web: connections that had to be given up: \d+ \(/\S+ was written to while it was sent, or cannot be read\)\n)+")
# What is said once in ten seconds when there are no more descriptors.
SHORT_OF_DESCRIPTORS = re.compile(r"(tartan-web: cannot (accept connections|open a file): Too many open files "
                                  r"\(EMFILE, \d+ times since the last such line; this process may open \d+ files\): raise LimitNOFILE= .*\n)+")


def test(function):
    TESTS.append(function)
    return function


def expect(condition, *what):
    if not condition:
        raise AssertionError(" ".join(str(each) for each in what) or "not as expected")


def wait_until(condition, what):
    """What the condition gives, as soon as that is something."""
    end = time.monotonic() + PATIENCE_S
    while not (found := condition()):
        expect(time.monotonic() < end, "waited in vain for", what)
    return found


class server:
    """The program, with its first line of output read."""

    def __init__(self, *options, root=None, workers=2, preparation=None, complaint=""):
        self.complaint = complaint
        command = [PROGRAM, "--root", str(root or ROOT), "--listen", "127.0.0.1:0", "--workers", str(workers), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        preexec_fn=preparation)
        self.line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)[, ]", self.line)
        if not found:
            self.process.kill()
            raise AssertionError(f"no address in {self.line!r}: {self.process.communicate()}")
        self.port = int(found[1])

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            if kind is None:
                self.end()
            else:
                self.process.kill()
                self.process.communicate()

    def end(self, number=signal.SIGTERM, status=0):
        """Asks it to end, and waits: nothing may be left to complain about."""
        self.process.send_signal(number)
        self.wait(status)

    def wait(self, status=0):
        errors = self.process.communicate(timeout=PATIENCE_S)[1]
        expect(self.process.returncode == status, "ended with", self.process.returncode, errors)
        self.expect_complaint(errors)

    def expect_complaint(self, errors):
        expect(self.complaint.fullmatch(errors) if isinstance(self.complaint, re.Pattern) else errors == self.complaint, errors)

    def connect(self, receive_buffer=None):
        return client(self.port, receive_buffer)

    def ask(self, request):
        """All that comes back for one connection's bytes, up to its end."""
        with self.connect() as c:
            c.send(request)
            c.finish()
            return c.rest()

    def status(self, request):
        got = self.ask(request)
        expect(got.startswith(b"HTTP/1.1 "), request[:60], "->", got[:200])
        return int(got[9:12])


class client:
    def __init__(self, port, receive_buffer=None):
        self.socket = socket.socket()
        self.socket.settimeout(PATIENCE_S)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.connect(("127.0.0.1", port))
        self.got = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def finish(self):
        """No more will be sent. A server that has refused the rest may have reset the connection already."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def reset(self):
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def receive(self):
        data = self.socket.recv(1 << 16)
        self.got += data
        return data != b""

    def rest(self):
        while self.receive():
            pass
        return self.got

    def response(self, with_body=True):
        """The next response: (status, headers, body)."""
        while b"\r\n\r\n" not in self.got:
            expect(self.receive(), "the connection ended after", self.got[:200])
        head, self.got = self.got.split(b"\r\n\r\n", 1)
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        length = int(headers["content-length"]) if with_body and not first.startswith("HTTP/1.1 304 ") else 0
        pieces, size = [self.got], len(self.got)  # joined once: some bodies are large
        while size < length:
            pieces.append(self.socket.recv(1 << 16))
            size += len(pieces[-1])
            expect(pieces[-1], "the connection ended within a body")
        self.got = b"".join(pieces)
        body, self.got = self.got[:length], self.got[length:]
        return int(first.split(" ")[1]), headers, body

    def get(self, path, fields=""):
        self.send(get(path, fields))
        return self.response()

    def is_closed(self, reset_too=False):
        """Waits for the end: True if nothing comes before it. A reset is an error, for it may throw away what was sent before."""
        try:
            return self.got == b"" and not self.receive()
        except ConnectionResetError:
            if reset_too:
                return True
            raise


def get(path, fields="", method="GET", version="1.1"):
    return f"{method} {path} HTTP/{version}\r\nHost: a\r\n{fields}\r\n".encode("latin-1")


def replace(path, content):
    """In one step, so that the server never sees a half."""
    new = path.with_suffix(".new")
    new.write_bytes(content)
    new.rename(path)


def fill(folder):
    root = folder / "root"
    (root / "folder").mkdir(parents=True)
    (root / "with index").mkdir()
    files = {"index.html": b"<h1>index</h1>\n", "page.html": b"<p>page</p>\n", "style.css": b"p {}\n", "a name.txt": b"a name\n",
             "with index/index.html": b"index of a folder\n", "large.bin": LARGE}
    for name, content in files.items():
        (root / name).write_bytes(content)
    (folder / "secret.txt").write_text("secret")
    (root / "link_out").symlink_to("../secret.txt")
    (root / "folder_out").symlink_to("..")
    (root / "absolute_link").symlink_to(folder / "secret.txt")
    os.mkfifo(root / "pipe")
    return root
