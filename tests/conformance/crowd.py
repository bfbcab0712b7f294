"""Thousands of clients in one process, each of which does what is slow; they are woken by epoll."""
import select
import socket
import time

from harness import PATIENCE_S, expect, get
from judged import FILES

AT_ONCE = 500  # that are being connected: what a listener keeps for its server is bounded
IP_BIND_ADDRESS_NO_PORT = 24
READ = 1 << 16


def source(number):
    """An address of this machine: each has ports of its own for some 28 000 connections."""
    return f"127.0.0.{2 + number % 200}"


def begin_to_connect(port, number, receive_buffer=None):
    s = socket.socket()
    s.setblocking(False)
    if receive_buffer:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    s.setsockopt(socket.IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1)
    s.bind((source(number), 0))
    s.connect_ex(("127.0.0.1", port))
    return s


class habit:
    """What a slow client says first, what comes back for it, and what it does now and then."""

    def __init__(self, first, body=b"", drop=b"", reads=True, receive_buffer=None, last=b""):
        self.first, self.body, self.drop, self.reads, self.receive_buffer, self.last = first, body, drop, reads, receive_buffer, last


LARGER = 16 << 20  # than what the system takes for a client that does not read
HEAD = b"GET /page.html HTTP/1.1\r\nHost: a\r\nX-Slow: a"
HABITS = {
    "slow_header": habit(HEAD, drop=b"a", last=b"HTTP/1.1 408 "),
    "slow_body": habit(get("/plain.txt", "Content-Length: 1000000\r\n") + b"x", drop=b"x", last=b"HTTP/1.1 408 "),
    "slow_read": habit(get("/huge.bin"), reads=False, receive_buffer=4096),
    "slow_pipeline": habit(get("/middle.bin") * 30, reads=False, receive_buffer=4096),
    "idle": habit(get("/plain.txt"), body=FILES["plain.txt"]),
    "silent": habit(b""),
}


class crowd:
    def __init__(self, port, number, how, first_source):
        self.how, self.port, self.number, self.sources = how, port, number, first_source
        self.epoll = select.epoll()
        self.open, self.got, self.waiting = {}, {}, set()  # sockets by descriptor; what has come; those of whom an answer is due
        self.ended, self.connected = {}, 0  # what had come for those whom the server has ended

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for each in self.open.values():
            each.close()
        self.epoll.close()

    def gather(self):
        """All connect, say what they say first, and have their answer."""
        connecting, end = set(), time.monotonic() + 2 * PATIENCE_S
        while self.connected < self.number or connecting or self.waiting:
            expect(time.monotonic() < end, "only", self.connected, "of", self.number, "were connected;", len(self.waiting), "have no answer")
            while self.connected < self.number and len(connecting) < AT_ONCE:
                s = begin_to_connect(self.port, self.sources, self.how.receive_buffer)
                self.open[s.fileno()] = s
                connecting.add(s.fileno())
                self.epoll.register(s.fileno(), select.EPOLLOUT)
                self.connected += 1
            for descriptor, happened in self.epoll.poll(1):
                if descriptor in connecting:
                    connecting.discard(descriptor)
                    self.begin(descriptor)
                else:
                    self.hear(descriptor, happened)

    def begin(self, descriptor):
        s = self.open[descriptor]
        error = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        expect(error == 0, "not connected:", error)
        if self.how.first:
            s.send(self.how.first)
        if self.how.body:
            self.waiting.add(descriptor)
        self.got[descriptor] = b""
        self.epoll.modify(descriptor, select.EPOLLIN if self.how.reads else 0)

    def hear(self, descriptor, happened):
        s = self.open[descriptor]
        try:
            data = s.recv(READ) if happened & select.EPOLLIN or self.how.reads else b""
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if data:
            self.got[descriptor] += data
            head, _, body = self.got[descriptor].partition(b"\r\n\r\n")
            if descriptor in self.waiting and len(body) >= len(self.how.body):
                expect(head.startswith(b"HTTP/1.1 200 ") and body == self.how.body, "a wrong answer:", self.got[descriptor][:500])
                self.waiting.discard(descriptor)
            return
        self.ended[descriptor] = self.got.pop(descriptor)
        self.waiting.discard(descriptor)
        self.epoll.unregister(descriptor)
        self.open.pop(descriptor).close()

    def look(self, timeout=0):
        for descriptor, happened in self.epoll.poll(timeout):
            self.hear(descriptor, happened)

    def tick(self):
        """Each does a little, so as not to be seen as idle."""
        self.look()
        for descriptor, s in list(self.open.items()):
            try:
                if self.how.drop:
                    s.send(self.how.drop)
                elif not self.how.reads:
                    s.recv(16)
            except BlockingIOError:
                pass
            except (ConnectionResetError, BrokenPipeError):
                self.hear(descriptor, select.EPOLLIN)

    def standing(self):
        self.look()
        return len(self.open)
