"""The web servers that are measured: how each is started, and what it cannot do.

A server is one or several commands, whose processes, with all their descendants, are what the injector reads the processor time of. It is ready
when its ports accept, and ends by SIGTERM.
"""

import dataclasses
import functools
import os
import pathlib
import pwd
import re
import signal
import subprocess
import typing

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCHEDULER = "TARTAN_SCHEDULER"
LARGE_SET = "mix"  # of bench/web/workloads.py: what some send by another system call


@dataclasses.dataclass(frozen=True)
class place:
    """What a server is started with."""
    root: pathlib.Path  # what it serves
    files: str  # which of the sets of files that is
    at: pathlib.Path  # an empty folder of its own
    ports: tuple
    workers: int
    clients: int
    closing: bool  # a request per connection
    programs: pathlib.Path  # build/<preset>


@dataclasses.dataclass(frozen=True)
class launch:
    """One command."""
    words: tuple
    more: dict = dataclasses.field(default_factory=dict)  # of the environment

    def environment(self):
        """Never with what the caller's environment says of schedulers."""
        return {**{name: value for name, value in os.environ.items() if name != SCHEDULER}, **self.more}


@dataclasses.dataclass(frozen=True)
class contender:
    name: str
    kind: str  # "floor", "ours", "paper" (its schedulers), "coloring", "copies", "rival"
    start: typing.Callable  # place -> launches
    program: typing.Callable  # folder of programs -> path, None: it cannot be had
    workers: str = "any"  # or "one", or "many"
    most_clients: int = 1_000_000
    crowds: tuple = ()  # workloads in which it is run; none: in all
    curve: tuple = ()  # workloads in which it is also run at the points that only a curve has
    ends_with: tuple = (0,)  # after SIGTERM

    def takes(self, workload, point, workers):
        """Whether it is run there."""
        if self.crowds and workload.key not in self.crowds or point.clients > self.most_clients:
            return False
        if workers > 1 and self.workers == "one" or workers == 1 and self.workers == "many":
            return False
        return point.everybody or workload.key in self.curve

    def ports(self, workers):
        return workers if self.kind == "copies" else 1


# --- ours ---------------------------------------------------------------------------------------------------------------

# The cache as users have it: with all of H3's files in memory a request cost as much, within 1 %, as with large ones sent from the disk.
WEB_OPTIONS = ("--max-connections", "20000")


def web(at, port, workers):
    return (str(at.programs / "apps" / "web" / "tartan-web"), "--root", str(at.root), "--listen", f"127.0.0.1:{port}", "--workers", str(workers), *WEB_OPTIONS)


def coloring(program, at, port, workers):
    most = ("--max-clients", "20000") if "sws" in program else ()  # SWS counts them, the others do not
    return (str(at.programs / "apps" / "colorings" / program), "--root", str(at.root), "--listen", f"127.0.0.1:{port}", "--workers", str(workers), *most)


def environment_of(program, scheduler):
    """The servers that are written for one core have libasync's loop beneath them."""
    chosen = scheduler or ("serial" if program in ("web-serial", "web-sws-serial") else "")
    return {SCHEDULER: chosen} if chosen else {}


def existing(*below):
    """A function that finds such a program of the build."""
    def find(programs):
        path = programs.joinpath(*below)
        return path if os.access(path, os.X_OK) else None
    return find


def ours(program, scheduler="", **more):
    """`program`: tartan-web, or the name of one of the colorings."""
    words = web if program == "tartan-web" else functools.partial(coloring, program)
    environment = environment_of(program, scheduler)
    kind = "paper" if scheduler else "ours" if program == "tartan-web" else "coloring"
    found = existing("apps", "web", program) if program == "tartan-web" else existing("apps", "colorings", program)
    return contender(program + (f"@{scheduler}" if scheduler else ""), kind, lambda at: [launch(words(at, at.ports[0], at.workers), environment)], found,
                     **more)


def copies(program, scheduler="", **more):
    """A process with one worker for each port."""
    words = web if program == "tartan-web" else functools.partial(coloring, program)
    environment = environment_of(program, scheduler)
    one = ours(program, scheduler)
    return contender(one.name + "+copies", "copies", lambda at: [launch(words(at, port, 1), environment) for port in at.ports], one.program,
                     workers="many", **more)


# --- others -------------------------------------------------------------------------------------------------------------

def filled(template, at, **names):
    """The path of a configuration, made of bench/web/<template> with @NAME@ filled in."""
    user = pwd.getpwuid(os.getuid()).pw_name
    known = {"AT": at.at, "PORT": at.ports[0], "ROOT": at.root, "WORKERS": at.workers, "USER": user, **names}
    made = at.at / template
    made.write_text(re.sub(r"@([A-Z]+)@", lambda match: str(known[match[1]]), (HERE / template).read_text()))
    return str(made)


@functools.lru_cache(maxsize=None)
def unpacked(package, file):
    """(path of a program of a Debian package, installed or not, its environment); (None, {}) if it cannot be had."""
    done = subprocess.run([str(HERE / "unpack"), package, file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    if done.returncode != 0:
        return None, {}
    path = pathlib.Path(done.stdout.strip())
    libraries = ROOT / "build" / "packages" / package / "libraries"
    apart = libraries.exists() and path.is_relative_to(libraries.parent)
    return path, {"LD_LIBRARY_PATH": libraries.read_text().strip()} if apart else {}


def debian(package, file):
    return lambda programs: unpacked(package, file)[0]


def nginx(at):
    path, more = unpacked("nginx", "usr/sbin/nginx")
    large = at.files == LARGE_SET
    conf = filled("nginx.conf", at, SENDFILE="on" if large else "off", REUSEPORT=" reuseport" if at.workers > 1 else "")
    return [launch((str(path), "-p", str(at.at), "-c", conf, "-e", "stderr"), more)]


def h2o(at):
    path, more = unpacked("h2o", "usr/bin/h2o")
    return [launch((str(path), "-m", "worker", "-c", filled("h2o.conf", at)), more)]


def lighttpd(at):
    path, more = unpacked("lighttpd", "usr/sbin/lighttpd")
    conf = filled("lighttpd.conf", at, PROCESSES=at.workers if at.workers > 1 else 0, NETWORK="sendfile" if at.files == LARGE_SET else "writev")
    return [launch((str(path), "-D", "-m", str(path.parent.parent / "lib" / "lighttpd"), "-f", conf), more)]


def apache_limits(form, workers, clients):
    """How many processes and threads. Each form has room for all clients: a connection that waits for a process would be one that starves."""
    if form == "prefork":
        lines = {"ServerLimit": clients + 16, "StartServers": clients, "MinSpareServers": 1, "MaxSpareServers": clients + 16,
                 "MaxRequestWorkers": clients + 16}
    elif form == "worker":  # a thread for each connection
        threads = max(64, -(-(clients + 64) // (2 * workers)) if clients < 2000 else 512)
        processes = -(-(clients + 64) // threads)
        lines = {"ServerLimit": processes, "StartServers": processes, "ThreadLimit": threads, "ThreadsPerChild": threads, "MinSpareThreads": 1,
                 "MaxSpareThreads": processes * threads, "MaxRequestWorkers": processes * threads}
    else:
        # Connections between two requests wait in a poll, but are closed as soon as no thread is idle. With 64 threads, fewer than clients, a
        # request cost 20 % more, and some were lost.
        threads = min(clients, 1024) + 64
        lines = {"ServerLimit": workers, "StartServers": workers, "ThreadLimit": threads, "ThreadsPerChild": threads, "MinSpareThreads": 1,
                 "MaxSpareThreads": workers * threads, "MaxRequestWorkers": workers * threads, "AsyncRequestWorkerFactor": 1000}
    return "\n".join(f"{name} {value}" for name, value in lines.items())


def apache(form):
    def start(at):
        path, more = unpacked("apache2-bin", "usr/sbin/apache2")
        modules = path.parent.parent / "lib" / "apache2" / "modules"
        conf = filled("apache.conf", at, FORM=form, MODULES=modules, SENDFILE="On" if at.files == LARGE_SET else "Off",
                      LIMITS=apache_limits(form, at.workers, at.clients))
        return [launch((str(path), "-D", "FOREGROUND", "-f", conf), more)]
    return start


def plain(*below):
    """What is written here: PROGRAM ROOT PORT WORKERS."""
    return lambda at: [launch((str(at.programs.joinpath(*below)), str(at.root), str(at.ports[0]), str(at.workers)))]


def floor(at):
    words = (str(at.programs / "bench" / "web" / "floor"), str(at.root), str(at.ports[0]), str(at.workers))
    return [launch(words + ("close",) * at.closing)]


FLOOR, OURS = "floor", "tartan-web"
SMP, SMP_ALONE, MELY, MELY_ALONE = "per_worker", "per_worker:no-stealing", "color_queues", "color_queues:no-stealing"
# What the papers call them; and ours.
NAMES = {"default": "the default", "serial": "libasync", "shared_queue": "libasync-mp", SMP: "libasync-smp", SMP_ALONE: "libasync-smp without stealing",
         MELY: "Mely", MELY_ALONE: "Mely without stealing"}
BOTH = ("h2", "h4")
KILLED = (-signal.SIGTERM,)  # they have no handler

CONTENDERS = [
    contender(FLOOR, "floor", floor, existing("bench", "web", "floor"), curve=BOTH, ends_with=KILLED),
    ours(OURS, curve=BOTH),
    ours(OURS, "serial", workers="one"),
    ours(OURS, "shared_queue"),
    ours(OURS, SMP, curve=("h2",)),
    ours(OURS, SMP_ALONE, curve=("h2",)),
    ours(OURS, MELY, curve=("h2",)),
    ours(OURS, MELY_ALONE),
    copies(OURS, curve=BOTH),
    copies(OURS, "serial"),
    ours("web-serial", workers="one"),
    ours("web-2003", curve=("h4",)),
    ours("web-2003", "shared_queue", crowds=("h3",)),
    ours("web-2003", SMP, crowds=("h3", "h4"), curve=("h4",)),
    ours("web-2003", SMP_ALONE, crowds=("h3",)),
    ours("web-per-worker"),
    copies("web-serial", crowds=("h3",)),
    ours("web-sws-serial", workers="one"),
    ours("web-sws"),
    ours("web-sws", SMP, crowds=("h2",), curve=("h2",)),
    ours("web-sws", SMP_ALONE, crowds=("h2",), curve=("h2",)),
    ours("web-sws", MELY, crowds=("h2",), curve=("h2",)),
    ours("web-sws", MELY_ALONE, crowds=("h2",)),
    copies("web-sws-serial", crowds=("h2",), curve=("h2",)),
    contender("nginx", "rival", nginx, debian("nginx", "usr/sbin/nginx"), curve=BOTH),
    contender("h2o", "rival", h2o, debian("h2o", "usr/bin/h2o"), curve=BOTH),
    contender("lighttpd", "rival", lighttpd, debian("lighttpd", "usr/sbin/lighttpd"), curve=("h4",), ends_with=(0, 1)),
    contender("apache-event", "rival", apache("event"), debian("apache2-bin", "usr/sbin/apache2"), curve=("h4",)),
    contender("apache-worker", "rival", apache("worker"), debian("apache2-bin", "usr/sbin/apache2"), curve=BOTH),
    # A process for each connection: more of them than this say nothing of anybody's use.
    contender("apache-prefork", "rival", apache("prefork"), debian("apache2-bin", "usr/sbin/apache2"), most_clients=1024),
    contender("beast-strand", "rival", plain("bench", "web", "beast_strand"), existing("bench", "web", "beast_strand"), curve=("h4",),
              ends_with=KILLED),
    contender("hyper", "rival", plain("bench", "web", "rivals", "hyper_files"), existing("bench", "web", "rivals", "hyper_files"), curve=("h4",),
              ends_with=KILLED),
]
BY_NAME = {each.name: each for each in CONTENDERS}
ORDER = [each.name for each in CONTENDERS]


def is_ours(name):
    return BY_NAME[name].kind not in ("floor", "rival")
