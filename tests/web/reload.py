"""SIGHUP: the configuration is read anew, and no request is lost meanwhile."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import threading

import harness
from harness import PATIENCE_S, client, expect, get, test, wait_until


class reloaded:
    """A server that tells when it has reloaded. Folders 0, 1, ... lie beside its file; what they hold is their number, in several sizes."""
    def __init__(self, text, folders=2, complaint=""):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        for number in range(folders):
            (self.path / str(number)).mkdir()
            for name, size in SIZES.items():
                (self.path / str(number) / name).write_bytes(b"%07d " % number * size)
        self.file = self.path / "web.toml"
        self.write(text)
        self.complaint = complaint
        self.status = 0

    def write(self, text):
        self.file.write_text(text.replace("$", str(self.path)))

    def __enter__(self):
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(f"{self.folder.name}/notify")
        self.manager.settimeout(PATIENCE_S)
        self.process = subprocess.Popen([harness.PROGRAM, "--config", str(self.file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env=os.environ | {"NOTIFY_SOCKET": f"{self.folder.name}/notify"})
        self.line = self.process.stdout.readline()
        self.ports = [int(port) for port in re.findall(r"http://127\.0\.0\.1:(\d+)", self.line)]
        expect(self.ports and self.manager.recv(100) == b"READY=1", self.line)
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            self.process.terminate()
        errors = self.process.communicate(timeout=PATIENCE_S)[1]
        self.manager.close()
        self.folder.cleanup()
        if kind is None:
            expect(self.process.returncode == self.status and errors == self.complaint.replace("$", str(self.path)), self.process.returncode, errors)

    def reload(self, text=None):
        if text is not None:
            self.write(text)
        self.process.send_signal(signal.SIGHUP)
        expect([self.manager.recv(100), self.manager.recv(100)] == [b"RELOADING=1", b"READY=1"])

    def connect(self, receive_buffer=None):
        return client(self.ports[0], receive_buffer)


SIZES = {"index.html": 1, "middle": 3000, "large": 200_000}  # of eight bytes: the last one comes from the disk
ONE_ROOT = 'listen = "127.0.0.1:0"\nworkers = 2\n[[host]]\nroot = "$/%d"\n'


class asker(threading.Thread):
    """Asks on one connection after the other, and looks whose each answer is: no older than what was told before, no newer than what was begun."""
    def __init__(self, of, turns):
        super().__init__()
        self.of, self.turns, self.answers, self.error = of, turns, 0, None
        self.start()

    def run(self):
        try:
            while not self.turns["end"]:
                with self.of.connect() as c:
                    for _ in range(20):
                        self.ask(c)
        except Exception as error:
            self.error = error

    def ask(self, c):
        for name, size in SIZES.items():
            oldest = self.turns["told"]
            c.send(get("/" + name) * 2)  # the second one is read, or waits, while the first is answered
            for _ in range(2):
                status, _, body = c.response()
                newest = self.turns["begun"]
                expect(status == 200 and len(body) == 8 * size and body == body[:8] * size, name, status, len(body))
                expect(oldest <= int(body[:7]) <= newest, name, oldest, body[:8], newest)
                self.answers += 1


@test
def a_log_that_hangs_holds_up_no_reload():
    """For longer than a disk is waited for; what it has not taken comes when it takes something again."""
    text = 'access-log = "$/pipe"\n' + ONE_ROOT
    s = reloaded(text % 0, complaint="tartan-web: the access log still waits for its disk or reader; it is opened anew behind that\n")
    os.mkfifo(s.path / "pipe")
    reader = os.open(s.path / "pipe", os.O_RDONLY | os.O_NONBLOCK)  # a pipe takes 64 KB
    os.set_blocking(reader, True)
    with s, s.connect() as c:
        for _ in range(100):
            expect(c.get("/", "User-Agent: " + "a" * 1000 + "\r\n")[2] == b"0000000 ")
        s.reload(text % 1)
        expect(c.get("/")[2] == b"0000001 ")
        lines = []
        with open(reader, encoding="ascii") as pipe:
            of_it = threading.Thread(target=lambda: lines.extend(pipe))
            of_it.start()
            s.reload(text % 0)
            expect(c.get("/")[2] == b"0000000 ")
            s.process.terminate()
            s.process.wait(PATIENCE_S)
            of_it.join()
        expect(len(lines) == 102, len(lines))


@test
def a_pipe_that_a_hanging_log_is_to_go_on_in_keeps_its_writer():
    text = 'access-log = "$/%s"\n' + ONE_ROOT % 0
    s = reloaded(text % "old", complaint="tartan-web: the access log still waits for its disk or reader; it is opened anew behind that\n")
    readers = {}
    for name in ("old", "new"):
        os.mkfifo(s.path / name)
        readers[name] = os.open(s.path / name, os.O_RDONLY | os.O_NONBLOCK)
        os.set_blocking(readers[name], True)
    with s, s.connect() as c:
        for _ in range(100):
            expect(c.get("/", "User-Agent: " + "a" * 1000 + "\r\n")[2] == b"0000000 ")
        s.reload(text % "new")
        counts = {}
        def count(name):
            with open(readers[name], encoding="ascii") as pipe:
                counts[name] = len(list(pipe))
        threads = [threading.Thread(target=count, args=(name,)) for name in readers]
        threads[0].start()
        threads[0].join(PATIENCE_S)  # it ends when nobody writes to it
        expect(counts == {"old": 100}, counts)
        threads[1].start()
        expect(c.get("/")[2] == b"0000000 ")
        s.process.terminate()
        s.process.wait(PATIENCE_S)
        threads[1].join(PATIENCE_S)
        expect(counts == {"old": 100, "new": 1}, counts)


@test
def a_reload_under_load_loses_nothing_and_what_comes_behind_it_is_new():
    turns = {"told": 0, "begun": 0, "end": False}
    count = 12
    with reloaded(ONE_ROOT % 0, folders=count) as s:
        idle, slow = s.connect(), s.connect(receive_buffer=4096)
        expect(idle.get("/")[2] == b"0000000 ")
        slow.send(get("/large"))
        expect(slow.receive())
        several = [asker(s, turns) for _ in range(4)]
        for number in range(1, count):
            before = sum(each.answers for each in several)
            wait_until(lambda: sum(each.answers for each in several) > before + 20 or any(each.error for each in several), "answers")
            turns["begun"] = number
            s.reload(ONE_ROOT % number)
            turns["told"] = number
            expect(idle.get("/")[2] == b"%07d " % number)
        turns["end"] = True
        for each in several:
            each.join()
            if each.error:
                raise each.error
        expect(slow.response()[2] == b"0000000 " * SIZES["large"])  # as it was when it was asked for
        expect(slow.get("/")[2] == b"%07d " % (count - 1))
        folders = [os.readlink(each) for each in pathlib.Path(f"/proc/{s.process.pid}/fd").iterdir() if not os.readlink(each).startswith("socket:")]
        last = s.path / str(count - 1)
        mine = sorted(each for each in folders if each.startswith(str(s.path)))
        expect(mine == [str(last), str(last / "large")], folders)  # nobody keeps the old ones; what was sent stays open for some seconds
        for each in (idle, slow):
            each.socket.close()


@test
def every_setting_is_taken():
    first, second = '[[host]]\nnames = ["a"]\nroot = "$/0"\n', '[[host]]\nnames = ["b"]\nroot = "$/1"\n'
    listen = 'listen = "127.0.0.1:0"\nworkers = 2\n'
    with reloaded(listen + first) as s, s.connect() as c:
        def ask_b(path):
            c.send(f"GET {path} HTTP/1.1\r\nHost: b\r\n\r\n".encode())
            return c.response()
        (s.path / "1" / "folder").mkdir()
        expect(ask_b("/")[2] == b"0000000 ")
        s.reload(listen + first + second)
        expect(ask_b("/")[2] == b"0000001 " and ask_b("/folder/")[0] == 404)
        s.reload(f'{listen}access-log = "$/log"\n{first}{second}listings = true\n')
        expect(ask_b("/folder/")[0] == 200)
        s.reload(f'{listen}access-log = "$/other log"\n{first}{second}')
        expect((s.path / "log").read_text().count("\n") == 1)  # each reload writes what was answered before
        expect(ask_b("/folder/")[0] == 404)
        s.reload(listen + first + second)
        expect((s.path / "other log").read_text().count("\n") == 1 and (s.path / "log").read_text().count("\n") == 1)
        expect(ask_b("/")[0] == 200)
        s.reload(f'{listen}access-log = "$/other log"\n[timeouts]\nidle = 0.2\n{first}')
        expect(ask_b("/")[2] == b"0000000 ")
        expect(c.is_closed())  # it was idle


@test
def there_may_be_more_connections_or_fewer():
    limited = "max-connections = %d\n" + ONE_ROOT % 0
    with reloaded(limited % 1) as s:
        first, second, third = s.connect(), s.connect(), s.connect()
        for each in (first, second, third):
            each.send(get("/"))
        expect(first.response()[0] == 200)
        s.reload(limited % 2)
        expect(second.response()[0] == 200)
        s.reload(limited % 1)
        expect(first.get("/")[0] == 200 and second.get("/")[0] == 200)
        first.socket.close()
        expect(second.get("/")[0] == 200)
        second.socket.close()
        expect(third.response()[0] == 200)
        third.socket.close()


@test
def a_file_that_is_wrong_leaves_all_as_it_was():
    cases = [("workers = 2\nworker = 1\n", ":2: worker: there is no such key"), ("workers = ", ":1: "),
             (ONE_ROOT % 7, ":4: host.root: cannot read the folder '"),
             ('access-log = "$/no/log"\n' + ONE_ROOT % 1, ":1: access-log: cannot write the access log '"),
             ((ONE_ROOT % 1).replace("127.0.0.1:0", "nonsense"), ":1: listen: 'nonsense' is no address"),
             ('user = "no such user"\n' + ONE_ROOT % 1, ":1: user: there is no user 'no such user'"),
             ((ONE_ROOT % 1) + "https-only = true\n", ":5: host.https-only: needs a port for TLS"),
             ((ONE_ROOT % 1) + "listings = 1\n", ":5: host.listings: is neither true nor false")]
    with reloaded('access-log = "$/log"\n' + ONE_ROOT % 0) as s, s.connect() as c:
        expect(c.get("/")[2] == b"0000000 ")
        for text, said in cases:
            s.reload(text)
            line = s.process.stderr.readline()
            expect(line.startswith("tartan-web: the access log is opened anew, all else is as it was: ") and f"{s.file}{said}" in line, line)
            expect(c.get("/")[2] == b"0000000 ")
        s.file.unlink()
        s.reload()
        expect(f"{s.file}: cannot be read" in s.process.stderr.readline())
        s.reload(ONE_ROOT % 1)
        expect(c.get("/")[2] == b"0000001 ")


@test
def what_needs_a_new_start_is_told_and_the_rest_taken():
    complaint = "tartan-web: not changed before the next start: listen, workers, user\n"
    with reloaded(ONE_ROOT % 0, complaint=complaint) as s, s.connect() as c:
        s.reload('listen = ["127.0.0.1:0", "127.0.0.1:0"]\nworkers = 1\nuser = "nobody"\n[[host]]\nroot = "$/1"\n')
        expect(c.get("/")[2] == b"0000001 ")


@test
def a_reload_is_not_told_behind_the_end():
    with reloaded(ONE_ROOT % 0) as s, s.connect(receive_buffer=4096) as slow, s.connect() as idle:
        slow.send(get("/large"))
        expect(slow.receive() and idle.get("/")[0] == 200)
        s.process.terminate()
        expect(s.manager.recv(100) == b"STOPPING=1" and idle.is_closed())
        s.process.send_signal(signal.SIGHUP)
        expect(slow.response()[0] == 200)
        for each in (slow, idle):
            each.socket.close()
        s.process.wait(timeout=PATIENCE_S)
        s.manager.setblocking(False)
        try:
            expect(not s.manager.recv(100), "something was told")
        except BlockingIOError:
            pass


@test
def a_reload_that_hangs_does_not_keep_the_server():
    complaint = "tartan-web: the disk does not answer: what it was asked to read or write is given up\n"
    with reloaded(ONE_ROOT % 0, complaint=complaint) as s:
        s.file.unlink()
        os.mkfifo(s.file)  # whoever opens it waits for a writer
        for _ in range(3):
            s.process.send_signal(signal.SIGHUP)
        expect(s.manager.recv(100) == b"RELOADING=1")
        s.process.terminate()
        expect(s.manager.recv(100) == b"STOPPING=1")
        s.status = 1
        s.process.wait(timeout=PATIENCE_S)
