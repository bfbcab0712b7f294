"""The server as the outside judges meet it: on a scratch site, over http and https, with nothing left open when they are done."""
import gzip
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "web"))
import harness  # noqa: E402
from harness import LARGE, PATIENCE_S, expect, wait_until  # noqa: E402

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SCRATCH = pathlib.Path()
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
HOST = "localhost"  # what the certificate is for
PAGE = ("<!doctype html><title>A page</title>\n" + "".join(f"<p>Line {n} of a page that can be compressed.</p>\n" for n in range(300))).encode()
FILES = {"index.html": b"<!doctype html><title>Index</title>\n", "page.html": PAGE, "plain.txt": b"0123456789" * 100, "empty.txt": b"", "large.bin": LARGE,
         "folder/index.html": b"in a folder\n", "a name.txt": b"a name\n"}
SLOW_HANDLER = re.compile(r"tartan: a handler on worker \d+ has been running for \d+ ms: ")
JUDGES = {}  # name: its cases


class skipped(Exception):
    """The judge cannot be had here, and why."""


def case(of):
    """Registers what one judge is asked: a function whose name says what has to hold."""
    def register(function):
        JUDGES.setdefault(of, []).append(function)
        return function
    return register


def fill(folder, siblings=True):
    """Sets the scratch site up: its files are an hour old, so that they have tags and dates at once; one of them has compressed siblings."""
    global SCRATCH
    SCRATCH = folder
    harness.ROOT = folder / "root"
    (harness.ROOT / "folder").mkdir(parents=True)
    for name, content in FILES.items():
        (harness.ROOT / name).write_bytes(content)
    if siblings:
        compress(harness.ROOT / "page.html")
    age(harness.ROOT)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={HOST}",
                    "-addext", f"subjectAltName=DNS:{HOST},IP:127.0.0.1", "-keyout", folder / "key.pem", "-out", folder / "certificate.pem"],
                   check=True, capture_output=True)


def compress(path):
    pathlib.Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    subprocess.run(["brotli", "-f", "-k", path], check=True)


def age(root):
    then = int(time.time()) - 3600
    for path in root.rglob("*"):
        os.utime(path, (then, then))


class judged(harness.server):
    """The program on free ports, for http and https; when it is left, as many descriptors have to be open as before."""

    def __init__(self, *options, tls=True, **more):
        secured = ("--listen-tls", "127.0.0.1:0", "--certificate", str(SCRATCH / "certificate.pem"), "--key", str(SCRATCH / "key.pem"))
        super().__init__(*options, *(secured if tls else ()), **more)
        self.http = f"http://{HOST}:{self.port}"
        found = re.search(r"https://127\.0\.0\.1:(\d+)", self.line)
        self.tls_port = int(found[1]) if found else 0
        self.https = f"https://{HOST}:{self.tls_port}"
        self.base = self.descriptors()

    def wait(self, status=0):
        """As any server's, but for the lines that name a slow handler: they are times of a real machine, which may have other things to do."""
        errors = self.process.communicate(timeout=PATIENCE_S)[1]
        slow, others = [], []
        for line in errors.splitlines(keepends=True):
            (slow if SLOW_HANDLER.match(line) else others).append(line)
        print("".join(slow), end="", flush=True)
        expect(self.process.returncode == status, "ended with", self.process.returncode, errors)
        self.expect_complaint("".join(others))

    def descriptors(self):
        """How many are open, but for the site's files: a large one stays open for some seconds after it was sent."""
        return sum(not self.is_of_a_file(number) for number in os.listdir(f"/proc/{self.process.pid}/fd"))

    def is_of_a_file(self, number):
        try:
            return stat.S_ISREG(os.stat(f"/proc/{self.process.pid}/fd/{number}").st_mode)
        except FileNotFoundError:  # by now it is closed
            return False

    def __exit__(self, kind, *rest):
        try:
            if kind is None:
                wait_until(lambda: self.descriptors() == self.base, f"the {self.base} descriptors that were open before")
        except BaseException:
            kind = AssertionError
            raise
        finally:
            super().__exit__(kind, *rest)


def call(*command, status=0, **more):
    """Runs a judge; gives (stdout, stderr) as text."""
    command = [str(each) for each in command]
    ended = subprocess.run(command, capture_output=True, text=True, errors="replace", env=ENVIRONMENT, timeout=2 * PATIENCE_S, **more)
    allowed = status if isinstance(status, tuple) else (status,)
    expect(ended.returncode in allowed, " ".join(command), "ended with", ended.returncode, ended.stdout[-3000:], ended.stderr[-3000:])
    return ended.stdout, ended.stderr


def need(program):
    expect(shutil.which(program), f"there is no {program}: tools/packages conformance")
