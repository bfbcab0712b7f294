"""The server under a service manager: sockets that are passed to it, what it tells, and whose rights it has."""
import os
import pathlib
import pwd
import re
import signal
import socket
import subprocess
import tempfile

import harness
from harness import PATIENCE_S, client, expect, test, wait_until


def started(*options, environment=None, passed=None, claims="", root=None):
    """The program; `passed`: a socket as descriptor 3, of which the environment tells it."""
    def prepare():
        os.dup2(passed.fileno(), 3)
    command = [harness.PROGRAM, "--root", str(root or harness.ROOT), "--workers", "2", *options]
    shell = ["sh", "-c", f'{claims} exec "$@"', "sh", *command]
    return subprocess.Popen(shell, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | (environment or {}),
                            preexec_fn=prepare if passed else None, pass_fds=(3,) if passed else ())


def ended(process):
    process.send_signal(signal.SIGTERM)
    errors = process.communicate(timeout=PATIENCE_S)[1]
    expect(process.returncode == 0 and errors == "", process.returncode, errors)


def port_of(process):
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
    expect(found, line, process.poll())
    return int(found[1])


@test
def a_socket_that_is_passed_is_served():
    with socket.create_server(("127.0.0.1", 0)) as door:
        process = started("--listen", "192.0.2.1:80", passed=door, claims="LISTEN_PID=$$ LISTEN_FDS=1")
        expect(port_of(process) == door.getsockname()[1])
        with client(door.getsockname()[1]) as c:
            expect(c.get("/page.html")[0] == 200)
        ended(process)
        other = started("--listen", "127.0.0.1:0", passed=door, claims="LISTEN_PID=1 LISTEN_FDS=1")  # somebody else's
        expect(port_of(other) != door.getsockname()[1])
        ended(other)


def listening(*places, log):
    """A server at all of these places, "PORT" in which is a port that is free for all of them, and this port."""
    for _ in range(3):  # between two looks it may be somebody else's
        with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as free:
            port = free.getsockname()[1]
        process = started(*(each for place in places for each in ("--listen", place.replace("PORT", str(port)))), "--access-log", str(log))
        if process.stdout.readline():
            return process, port
        errors = process.communicate(timeout=PATIENCE_S)[1]
        expect("Address already in use" in errors, places, errors)
    raise AssertionError(f"no free port for {places}: {errors}")


def has_loopback_of_ipv6():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@test
def both_families_are_served_at_one_port():
    if not has_loopback_of_ipv6():
        return  # nobody could come
    for places, both in (((":PORT", "[::]:PORT"), True), (("[::]:PORT",), True), (("[::1]:PORT", "127.0.0.1:PORT"), True), ((":PORT",), False)):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder, "log")
            process, port = listening(*places, log=log)
            try:
                for family in ("127.0.0.1", "::1") if both else ("127.0.0.1",):
                    with socket.create_connection((family, port), timeout=PATIENCE_S) as c:
                        c.sendall(b"GET /page.html HTTP/1.0\r\n\r\n")
                        expect(c.recv(100).startswith(b"HTTP/1.1 200"), places, family)
                ended(process)
            finally:
                process.kill()
            expect([line.split()[0] for line in log.read_text().splitlines()] == ["127.0.0.1"] + ["::1"] * both, places, log.read_text())


@test
def a_port_is_not_plain_for_one_family_and_of_tls_for_the_other():
    if not has_loopback_of_ipv6():
        return
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = f"{folder}/cert.pem", f"{folder}/key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out", certificate,
                        "-days", "2", "-subj", "/CN=a"], check=True, capture_output=True)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
        tls = ("--certificate", certificate, "--key", key, "--listen-tls", f"[::]:{port}")
        process = started("--listen", f"127.0.0.1:{port}", *tls)
        errors = process.communicate(timeout=PATIENCE_S)[1]
        expect(process.returncode == 2 and "Address already in use" in errors, process.returncode, errors)
        process = started(*tls, "--listen-tls", f"127.0.0.1:{port}")
        try:
            expect(process.stdout.readline().count("https://") == 2, process.poll())
            ended(process)
        finally:
            process.kill()


@test
def a_socket_that_is_none_is_named():
    with socket.socketpair()[0] as none:
        process = started(passed=none, claims="LISTEN_PID=$$ LISTEN_FDS=1")
        errors = process.communicate(timeout=PATIENCE_S)[1]
        expect(process.returncode == 2 and "descriptor 3" in errors, errors)
    process = started(claims="LISTEN_PID=$$ LISTEN_FDS=many")
    errors = process.communicate(timeout=PATIENCE_S)[1]
    expect(process.returncode == 2 and "LISTEN_FDS is 'many'" in errors, errors)


@test
def the_manager_is_told():
    with tempfile.TemporaryDirectory() as folder:
        for path in (f"{folder}/notify", f"\0tartan-test-{os.getpid()}"):
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                manager.bind(path)
                manager.settimeout(PATIENCE_S)
                process = started("--listen", "127.0.0.1:0", environment={"NOTIFY_SOCKET": path.replace("\0", "@")})
                expect(manager.recv(100) == b"READY=1")
                process.send_signal(signal.SIGHUP)
                expect([manager.recv(100), manager.recv(100)] == [b"RELOADING=1", b"READY=1"])
                ended(process)
                expect(manager.recv(100) == b"STOPPING=1")


def ids_of(process):
    """User and groups, real, effective, saved and of the file system, of each thread."""
    tasks = pathlib.Path(f"/proc/{process.pid}/task").iterdir()
    return {number for task in tasks for line in (task / "status").read_text().splitlines() if line.startswith(("Uid:", "Gid:", "Groups:"))
            for number in line.split()[1:]}


@test
def the_rights_of_a_user_are_taken():
    if os.geteuid() != 0:  # nobody else can give up what he has not
        process = started("--listen", "127.0.0.1:0", "--user", "nobody")
        errors = process.communicate(timeout=PATIENCE_S)[1]
        expect(process.returncode == 2 and "cannot become the user 'nobody'" in errors, errors)
        return
    secret = harness.ROOT / "secret"
    secret.write_text("secret")
    secret.chmod(0o600)
    harness.ROOT.chmod(0o755)
    harness.ROOT.parent.chmod(0o711)
    try:
        process = started("--listen", "127.0.0.1:0", "--user", "nobody")
        with client(port_of(process)) as c:
            expect(c.get("/page.html")[0] == 200)
            nobody = pwd.getpwnam("nobody")
            status = c.get("/secret")[0]
            expect(status == 403, status)
            expect(ids_of(process) <= {str(nobody.pw_uid), str(nobody.pw_gid)}, ids_of(process))
        ended(process)
    finally:
        secret.unlink()
        harness.ROOT.parent.chmod(0o700)


@test
def a_folder_that_the_user_may_not_enter_ends_the_start():
    if os.geteuid() != 0:  # nobody else can become somebody
        return
    with tempfile.TemporaryDirectory() as folder:  # of mode 0700
        (pathlib.Path(folder) / "web.toml").write_text(f'listen = "127.0.0.1:0"\nuser = "nobody"\n[[host]]\nroot = "{folder}"\n')
        said = f"tartan-web: {folder}/web.toml:4: host.root: cannot open files in '{folder}' with openat2: Permission denied for the user 'nobody'\n"
        for options in ([], ["--check"]):
            command = [harness.PROGRAM, "--config", f"{folder}/web.toml", *options]
            done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
            expect(done.returncode == 2 and done.stdout == "" and done.stderr == said, options, done)


@test
def a_folder_that_the_user_may_enter_need_not_be_one_that_he_may_list():
    if os.geteuid() != 0:  # nobody else can become somebody
        return
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        for name in ("1", "2"):
            (path / name).mkdir(mode=0o711)
            (path / name / "page.html").write_text(name)
        (path / "site").symlink_to("1")
        path.chmod(0o711)
        process = started("--listen", "127.0.0.1:0", "--user", "nobody", root=path / "site")
        with client(port_of(process)) as c:
            expect(c.get("/page.html")[2] == b"1")
            (path / "next").symlink_to("2")
            (path / "next").rename(path / "site")
            wait_until(lambda: c.get("/page.html")[2] == b"2", "the folder that the link leads to now")
        ended(process)


@test
def a_path_that_the_user_may_not_follow_is_told():
    if os.geteuid() != 0:  # nobody else can become somebody
        return
    with tempfile.TemporaryDirectory() as folder:  # of mode 0700
        site = pathlib.Path(folder) / "site"
        site.mkdir(mode=0o755)
        (site / "page.html").write_text("page")
        process = started("--listen", "127.0.0.1:0", "--user", "nobody", root=site)
        with client(port_of(process)) as c:
            expect(c.get("/page.html")[2] == b"page")
        process.terminate()
        errors = process.communicate(timeout=PATIENCE_S)[1]
        expect(process.returncode == 0 and f"the user cannot follow the path '{site}'" in errors and errors.count("\n") == 1, errors)
