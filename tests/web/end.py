"""How the server ends, by one signal and by two."""
import signal
import socket
import threading

import harness
from harness import LARGE, expect, get, server, test, wait_until

ONE_CUT_OFF = "tartan-web: the time to drain was over before all was answered: connections that were cut off: 1\n"


def is_refused(s):
    """Nobody listens any more: the signal has been seen."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", s.port)) != 0


class busy(threading.Thread):
    """Asks on one connection, request after request, until it is told that the connection ends."""
    def __init__(self, s):
        super().__init__()
        self.client, self.answers, self.error = s.connect(), 0, None
        self.start()

    def run(self):
        try:
            headers = {}
            while headers.get("connection") != "close":
                status, headers, body = self.client.get("/page.html")  # fails at the end of the connection
                expect((status, body) == (200, b"<p>page</p>\n"), status, body)
                self.answers += 1
            expect(self.client.is_closed())
        except Exception as error:
            self.error = error
        self.client.socket.close()


@test
def busy_clients_lose_no_request_to_the_end():
    with server() as s:
        clients = [busy(s) for _ in range(50)]
        wait_until(lambda: all(each.answers > 3 or each.error for each in clients), "answers for all")
        s.process.send_signal(signal.SIGTERM)
        for each in clients:
            each.join()
        s.wait()
    errors = [each.error for each in clients if each.error]
    expect(not errors, len(errors), "of 50:", errors[:1])


@test
def a_signal_closes_idle_connections_and_ends_the_program():
    for number in (signal.SIGINT, signal.SIGTERM):
        with server() as s, s.connect() as used, s.connect() as fresh:
            expect(used.get("/page.html")[0] == 200)
            s.process.send_signal(number)
            for c in (used, fresh):
                expect(c.is_closed())
                c.socket.close()  # the server waits for that, for a while
            s.wait()


@test
def a_request_in_progress_is_answered_before_the_end():
    with server() as s, s.connect(receive_buffer=4096) as reading, s.connect() as asking, s.connect() as idle:
        reading.send(get("/large.bin") + get("/large.bin"))
        asking.send(b"GET /page.html HTTP/1.1\r\n")
        expect(reading.receive())
        for c in (idle, asking):  # so that both were accepted, and the half request was read: an answer came behind it
            expect(s.connect().get("/page.html")[0] == 200)
        expect(idle.get("/page.html")[0] == 200)  # else a request may be on its way
        s.process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_refused(s), "the end of listening")
        asking.send(b"Host: a\r\n\r\n")
        status, headers, body = asking.response()
        expect((status, headers["connection"], body) == (200, "close", b"<p>page</p>\n"), status, headers)
        expect(reading.response()[2] == LARGE)
        expect(idle.is_closed())
        for c in (reading, asking, idle):
            c.socket.close()
        s.wait()


@test
def a_request_behind_one_in_progress_is_answered_too():
    with server() as s, s.connect(receive_buffer=4096) as c, s.connect() as idle:
        c.send(get("/large.bin"))
        expect(c.receive())
        expect(idle.get("/page.html")[0] == 200)
        c.send(get("/page.html"))
        s.process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_refused(s), "the end of listening")
        expect(c.response()[2] == LARGE)
        status, headers, _ = c.response()
        expect((status, headers["connection"]) == (200, "close"), status, headers)
        expect(c.is_closed() and idle.is_closed())
        for each in (c, idle):
            each.socket.close()
        s.wait()


@test
def what_takes_longer_than_the_drain_is_cut_off():
    with server("--drain-timeout", "0.2", complaint=ONE_CUT_OFF) as s:
        with s.connect(receive_buffer=4096) as stalled:
            stalled.send(get("/large.bin") * 3)
            expect(stalled.receive())
            s.end()


@test
def who_reads_as_fast_as_it_can_is_told_to_be_cut_off_too():
    huge = harness.ROOT / "huge"
    try:
        with open(huge, "wb") as file:
            file.truncate(1 << 40)  # bytes, none of them on the disk
        with server("--drain-timeout", "0.2", complaint=ONE_CUT_OFF) as s:
            with s.connect() as c:
                c.send(get("/huge"))
                expect(c.receive())
                s.process.send_signal(signal.SIGTERM)
                room = bytearray(1 << 20)
                while c.socket.recv_into(room) > 0:
                    pass
            s.wait()
    finally:
        huge.unlink(missing_ok=True)


@test
def a_second_signal_ends_it_at_once():
    with server() as s, s.connect(receive_buffer=4096) as stalled, s.connect() as idle:
        stalled.send(get("/large.bin") * 3)
        expect(stalled.receive())
        s.process.send_signal(signal.SIGINT)
        expect(idle.is_closed())  # the first one has been seen
        s.end(signal.SIGINT, status=128 + signal.SIGINT)
