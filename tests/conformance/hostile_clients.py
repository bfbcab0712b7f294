"""What no program of others does so thoroughly: random bytes, ends in every state, no descriptors left, files that shrink while they are sent.

Time limits are as good as none, so that what ends a connection is what the client did.
"""
import itertools
import os
import random
import resource
import socket
import ssl
import time

import harness
import judged
from harness import LARGE, PATIENCE_S, client, expect, get, wait_until
from judged import FILES, HOST, PAGE, case

FOREVER = [word for name in ("header", "idle", "write") for word in (f"--{name}-timeout", "100000")]
STATUSES = {200, 206, 301, 304, 400, 403, 404, 405, 408, 412, 413, 414, 416, 417, 431, 500, 501, 503, 505}
ROUNDS = 3000
HUGE = bytes(range(256)) * (64 << 10)  # 16 MiB: more than the system takes for a client that does not read
SEEDS = [
    get("/page.html"), get("/plain.txt", method="HEAD"), get("/page.html", "Accept-Encoding: gzip, br\r\n"), get("/plain.txt", "Range: bytes=0-5, 7-9,-3\r\n"),
    get("/plain.txt", 'If-None-Match: "a", W/"b"\r\nIf-Modified-Since: Sat, 01 Jan 2000 00:00:00 GMT\r\n'), get("/nothing"), get("/folder"),
    get("/plain.txt", "Content-Length: 5\r\n") + b"12345" + get("/page.html"), get("/plain.txt", "Connection: close\r\n"), get("http://b:80/plain.txt?a=b"),
    get("/plain.txt", "Transfer-Encoding: chunked\r\n") + b"5;a=b\r\n12345\r\n0\r\nT: x\r\n\r\n" + get("/page.html"), get("/empty.txt", version="1.0"),
]
TROUBLES = [b"\r\n", b"\n", b"\r", b"\0", b" ", b":", b"%00", b"\xff", b"Content-Length: 3\r\n", b"0" * 40, b"/../", b"Host: b\r\n"]


# --- random bytes -----------------------------------------------------------------------------------------------------


def spoiled(chance):
    data = bytearray(chance.choice(SEEDS) + (chance.choice(SEEDS) if chance.random() < 0.3 else b""))
    for _ in range(chance.randrange(1, 6)):
        at, how = chance.randrange(len(data) + 1), chance.randrange(6)
        if how == 0:
            data[at:at + 1] = b"%c" % chance.randrange(256)
        elif how == 1:
            data[at:at] = chance.randbytes(chance.randrange(1, 20))
        elif how == 2:
            del data[at:at + chance.randrange(1, 20)]
        elif how == 3:
            data[at:at] = chance.choice(TROUBLES)
        elif how == 4:
            data += data[at:at + chance.randrange(1, 200)]
        else:
            data = data[:at + 1]
    return bytes(data) if chance.random() < 0.95 else chance.randbytes(chance.randrange(1, 5000))


def known_bodies():
    root = harness.ROOT
    return {*FILES.values(), (root / "page.html.gz").read_bytes(), (root / "page.html.br").read_bytes()}


def judge_stream(sent, got, known):
    """Each answer is whole and one of those that may come; nothing is between them or behind the last."""
    rest = got
    while rest:
        head, mark, rest = rest.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        expect(mark and first.startswith(b"HTTP/1.1 ") and int(first[9:12]) in STATUSES, sent, "->", got[:500])
        fields = {name.lower(): value for name, value in (line.split(b": ", 1) for line in lines)}
        status = int(first[9:12])
        length = 0 if status == 304 else int(fields[b"content-length"])
        body = rest[:length]
        if rest[:9] == b"HTTP/1.1 " or not rest:  # of a HEAD, for no body here begins so
            body = b""
            expect(length == 0 or b"HEAD" in sent, sent, "->", got[:500])
        expect(len(body) in (length, 0), "cut off:", sent, "->", got[:500])
        expect(status != 200 or not body or body in known, "a wrong byte:", sent, "->", got[:500])
        rest = rest[len(body):]


@case("hostile")
def random_bytes_get_a_right_answer_or_the_end():
    seed = int(os.environ.get("TARTAN_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"TARTAN_SEED={seed}", flush=True)
    chance, known = random.Random(seed), known_bodies()
    with judged.judged(*FOREVER) as s, s.connect() as good:
        for n in range(ROUNDS):
            sent = spoiled(chance)
            with s.connect() as c:
                try:
                    for at in range(0, len(sent), step := chance.choice([len(sent) or 1, 7, 100])):
                        c.send(sent[at:at + step])
                    c.finish()
                    c.rest()
                except ConnectionError:
                    pass  # what came before is judged
                judge_stream(sent, c.got, known)
            if n % 100 == 0:
                expect(good.get("/page.html")[2] == PAGE)


@case("hostile")
def random_bytes_for_tls_get_an_alert_or_the_end():
    seed = int(os.environ.get("TARTAN_SEED", random.SystemRandom().randrange(1 << 32)))
    print(f"TARTAN_SEED={seed}", flush=True)
    chance, greeting = random.Random(seed), client_hello()
    with judged.judged(*FOREVER) as s, secure(s) as good:
        for n in range(ROUNDS // 3):
            sent = bytearray(greeting)
            for _ in range(chance.randrange(1, 5)):
                sent[chance.randrange(len(sent))] = chance.randrange(256)
            with client(s.tls_port) as c:
                try:
                    c.send(bytes(sent[:chance.randrange(len(sent))] if n % 3 == 0 else sent))
                    c.finish()
                    c.rest()
                except ConnectionError:
                    pass
                expect(c.got[:1] in (b"", b"\x15", b"\x16"), bytes(sent), "->", c.got[:100])
            if n % 100 == 0:
                expect(good.get("/page.html")[2] == PAGE)


def context():
    return ssl.create_default_context(cafile=str(judged.SCRATCH / "certificate.pem"))


def client_hello():
    """The first bytes of a client, without anybody who hears them."""
    inside, outside = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context().wrap_bio(inside, outside, server_hostname=HOST).do_handshake()
    except ssl.SSLWantReadError:
        return outside.read()


def secure(s, receive_buffer=None):
    c = client(s.tls_port, receive_buffer)
    c.socket = context().wrap_socket(c.socket, server_hostname=HOST, suppress_ragged_eofs=True)
    return c


# --- ends in every state ----------------------------------------------------------------------------------------------

CHUNKED = get("/plain.txt", "Transfer-Encoding: chunked\r\n")
BODY_BEGINS = get("/plain.txt", "Content-Length: 100000\r\n") + b"x" * 1000
STATES = {  # what is sent, and how much has to have come before the end
    "connected": (b"", 0),
    "in the request line": (b"GET /pag", 0),
    "in a field": (get("/page.html")[:-6], 0),
    "before the last line": (get("/page.html")[:-2], 0),
    "asked": (get("/page.html"), 0),
    "answered": (get("/page.html"), 100),
    "asked for much": (get("/huge.bin"), 0),
    "in a large answer": (get("/huge.bin"), 70000),
    "in a large answer, with more asked": (get("/huge.bin") + get("/page.html") * 20, 1000),
    "in a body": (BODY_BEGINS, 0),
    "in a chunk": (CHUNKED + b"1000\r\nxx", 0),
    "in a chunk's size": (CHUNKED + b"1", 0),
    "refused, with more to come": (b"\0\0\r\n\r\n" + b"x" * 50000, 0),
    "in many parts": (get("/huge.bin", "Range: bytes=0-4999999,6000000-11999999\r\n"), 1000),
    "asked to close": (get("/huge.bin", "Connection: close\r\n"), 1000),
    "of version 1.0": (get("/huge.bin", version="1.0"), 1000),
    "waiting to go on": (get("/page.html", "Content-Length: 5\r\nExpect: 100-continue\r\n"), 0),
    "told to go on": (get("/page.html", "Content-Length: 5\r\nExpect: 100-continue\r\n"), 20),
    "in a pipeline": (get("/page.html") * 500, 0),
}


def close(c):
    c.socket.close()


def half_close(c):
    """Sends no more, and hears all of it, to the end: that has to come without a time limit."""
    if isinstance(c.socket, ssl.SSLSocket):
        c.socket.close()
        return
    c.finish()
    try:
        while c.socket.recv(1 << 18):
            pass
    except ConnectionResetError:
        pass
    c.socket.close()


def vanish_in_every_state(s, connect):
    (harness.ROOT / "huge.bin").write_bytes(HUGE)
    with connect() as good:
        for end in (client.reset, close, half_close):
            for name, (sent, await_bytes) in STATES.items():
                several = [connect(receive_buffer=4096) for _ in range(4)]
                for c in several:
                    try:
                        c.send(sent)
                    except ConnectionError:
                        expect(name.startswith("refused"), name)
                    while len(c.got) < await_bytes:
                        expect(c.receive(), "ended", name)
                for c in several:
                    end(c)
                found = good.get("/plain.txt")
                expect(found[0] == 200 and found[2] == FILES["plain.txt"], "others are not served after", end.__name__, name)
                wait_until(lambda: s.descriptors() <= s.base + 1, f"the descriptors of those who left by {end.__name__} when {name}")


@case("hostile")
def ends_in_every_state_leave_nothing_open():
    with judged.judged(*FOREVER) as s:
        vanish_in_every_state(s, s.connect)


@case("hostile")
def ends_in_every_state_of_tls_leave_nothing_open():
    greeting = client_hello()
    with judged.judged(*FOREVER) as s:
        for size in (0, 1, 5, 100, len(greeting) - 1, len(greeting)):
            for end in (client.reset, close, half_close):
                c = client(s.tls_port)
                c.send(greeting[:size])
                end(c)
        vanish_in_every_state(s, lambda receive_buffer=None: secure(s, receive_buffer))


# --- no descriptors ---------------------------------------------------------------------------------------------------


def cpu_seconds(s):
    with open(f"/proc/{s.process.pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@case("hostile")
def without_descriptors_others_wait_and_nobody_spins():
    with judged.judged("--recheck", "100000", *FOREVER, complaint=harness.SHORT_OF_DESCRIPTORS) as s:
        friends = [s.connect() for _ in range(20)]
        for each in friends:
            expect(each.get("/page.html")[2] == PAGE)
        was = resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE, (s.descriptors(), was[1]))  # not one more
        late = [s.connect() for _ in range(50)]
        for each in late:
            each.send(get("/plain.txt"))
        for each in friends:
            expect(each.get("/page.html")[2] == PAGE, "a page in memory")
            status, _, body = each.get("/large.bin")
            expect((status == 200 and body == LARGE) or (status == 503 and len(body) < 100), "a file that cannot be opened:", status, body[:100])
        before = cpu_seconds(s)  # as in tests/web/load, a time of a real machine: not for `make test`
        time.sleep(1)
        used = cpu_seconds(s) - before
        expect(used < 0.1, "CPU time of a second in which nothing can be done:", used)
        resource.prlimit(s.process.pid, resource.RLIMIT_NOFILE, was)
        for each in friends[:5]:
            each.socket.close()
        for each in late:
            expect(each.response()[2] == FILES["plain.txt"], "who has waited is served")
        expect(friends[-1].get("/large.bin")[2] == LARGE)
        for each in friends + late:
            each.socket.close()


# --- files that change while they are sent ----------------------------------------------------------------------------


names = itertools.count()  # a name that was served before could still mean the file of before, for a second


def begin_download(connect):
    path = harness.ROOT / f"changing-{next(names)}.bin"
    harness.replace(path, HUGE)
    c = connect(receive_buffer=4096)
    c.send(get(f"/{path.name}"))
    while len(c.got) < 1 << 16:
        expect(c.receive())
    return path, c


def check_what_changes(connect):
    smaller = 1 << 20
    path, c = begin_download(connect)
    os.truncate(path, smaller)
    body = c.rest().split(b"\r\n\r\n", 1)[1]
    expect(len(body) < len(HUGE) and HUGE.startswith(body), "what came of a file that shrank:", len(body))
    c.socket.close()
    with connect() as again:
        wait_until(lambda: len(again.get(f"/{path.name}")[2]) == smaller, "the shorter file")
        expect(again.get(f"/{path.name}")[2] == HUGE[:smaller])
    path.unlink()
    for change in (lambda path: path.unlink(), lambda path: harness.replace(path, b"new"), lambda path: path.open("ab").write(b"more")):
        path, c = begin_download(connect)
        change(path)
        expect(c.response()[2] == HUGE, "what has begun is sent whole")
        c.socket.close()
        path.unlink(missing_ok=True)


@case("hostile")
def a_file_that_shrinks_while_it_is_sent_ends_the_connection():
    with judged.judged(*FOREVER, complaint=harness.WRITTEN_TO) as s:
        check_what_changes(s.connect)
        check_what_changes(lambda receive_buffer=None: secure(s, receive_buffer))


@case("hostile")
def a_reader_of_one_byte_at_a_time_gets_the_right_ones():
    with judged.judged(*FOREVER) as s, socket.socket() as c:
        c.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        c.settimeout(PATIENCE_S)
        c.connect(("127.0.0.1", s.port))
        c.sendall(get("/page.html", "Connection: close\r\n"))
        got = b"".join(iter(lambda: c.recv(1), b""))
        expect(got.split(b"\r\n\r\n", 1)[1] == PAGE)
