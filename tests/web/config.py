"""A configuration file: hosts by name, several addresses, and what is wrong in it."""
import os
import pathlib
import re
import socket
import subprocess
import tempfile

import harness
from harness import PATIENCE_S, client, expect, get, test, wait_until


class folder_of_hosts:
    """Two folders and a file that serves them; the server's ports."""
    def __init__(self, text):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        for name in ("a", "b"):
            (self.path / name).mkdir()
            (self.path / name / "index.html").write_text(name)
            (self.path / name / "large").write_text(name * 200_000)
        self.file = self.path / "web.toml"
        self.file.write_text(text.replace("$", str(self.path)))

    def __enter__(self):
        self.process = subprocess.Popen([harness.PROGRAM, "--config", str(self.file), "--workers", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True)
        self.line = self.process.stdout.readline()
        self.ports = [int(port) for port in re.findall(r"http://127\.0\.0\.1:(\d+)", self.line)]
        return self

    def __exit__(self, *_):
        self.process.terminate()
        errors = self.process.communicate(timeout=PATIENCE_S)[1]
        self.folder.cleanup()
        expect(self.process.returncode == 0 and errors == "", self.process.returncode, errors)


TWO_HOSTS = '''
listen = ["127.0.0.1:0", "127.0.0.1:0"]
[[host]]
names = ["a.example"]
root = "$/a"
[[host]]
names = ["b.example", "[::1]"]
root = "$/b"
'''


@test
def several_addresses_share_the_limit_of_connections():
    with folder_of_hosts('max-connections = 1\naccess-log = "$/log"\n' + TWO_HOSTS) as s:
        for here, there in (s.ports, s.ports[::-1]):
            first = client(here)
            expect(first.get("/?1")[0] == 200)  # it has the seat
            second = client(there)
            second.send(get("/?3"))
            expect(first.get("/?2")[0] == 200)
            first.socket.close()
            expect(second.response()[0] == 200)
            second.socket.close()
        log = s.path / "log"
        wait_until(lambda: log.read_text().count("\n") == 6, "six lines")
        expect(re.findall(r"/\?(\d)", log.read_text()) == ["1", "2", "3"] * 2, log.read_text())


@test
def each_host_has_its_folder():
    with folder_of_hosts(TWO_HOSTS) as s:
        expect(len(s.ports) == 2 and " and 1 more on " in s.line, s.line)
        for port in s.ports:
            c = client(port)
            for host, body in (("a.example", b"a"), ("b.example", b"b"), ("B.EXAMPLE:80", b"b"), ("c.example", b"a"), ("b.example.", b"b"), ("[::1]:9", b"b"),
                               ("", b"a")) * 2:
                for path, whole in (("/", body), ("/large", body * 200_000)):
                    c.send(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                    status, _, got = c.response()
                    expect(status == 200 and got == whole, host, path, status, got[:9])
            c.send(b"GET http://b.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n")
            expect(c.response()[2] == b"b")
            c.socket.close()


def refused(*options):
    done = subprocess.run([harness.PROGRAM, *options], capture_output=True, text=True, timeout=PATIENCE_S)
    expect(done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1, done)
    return done.stderr


@test
def a_mistake_in_a_file_names_line_and_key():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "web.toml")
        path.write_text('[[host]]\nroot = "/srv"\nindex = 1\n')
        keys = "cache-control, certificate, clean-urls, dot-files, error-pages, fallback, headers, https-only, key, listings, names, precompressed, root, rule"
        expect(refused("--config", str(path)) == f"tartan-web: {path}:3: host.index: there is no such key; there are {keys}\n")
        expect(refused("--config", folder) == f"tartan-web: {folder}: cannot be read\n")
        expect("excludes" in refused("--config", str(path), "--root", folder))
    expect("--root or --config" in refused("--workers", "1"))


@test
def a_mistake_that_only_the_system_sees_names_line_and_key_too():
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as taken:
        path = pathlib.Path(folder, "web.toml")
        root = f'[[host]]\nroot = "{folder}"\n'
        port = taken.getsockname()[1]
        cases = ((f'listen = "127.0.0.1:{port}"\n' + root, f":1: listen: cannot listen on 127.0.0.1:{port}: Address already in use"),
                 ('listen = "127.0.0.1:0"\nuser = "no such user"\n' + root, ":2: user: there is no user 'no such user'"),
                 ('listen = "127.0.0.1:0"\n' + root + "https-only = true\n", ":4: host.https-only: needs a port for TLS"))
        for text, said in cases:
            path.write_text(text)
            expect(f"{path}{said}" in (line := refused("--config", str(path))), line)
        path.write_text('listen = "127.0.0.1:0"\n' + root)
        said = f"tartan-web: cannot listen on 127.0.0.1:{port}: Address already in use\n"  # by the option, which has no line
        expect((line := refused("--config", str(path), "--listen", f"127.0.0.1:{port}")) == said, line)
    expect("--listen: 'localhost:80' is no address" in (line := refused("--root", "/", "--listen", "localhost:80")), line)
    expect("tartan-web: there is no user 'no such user'" in (line := refused("--root", "/", "--listen", "127.0.0.1:0", "--user", "no such user")), line)


@test
def proxies_may_be_named_in_the_file_or_by_options_and_have_to_be():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "web.toml")
        root, trusted, speaks = f'[[host]]\nroot = "{folder}"\n', 'trusted-proxies = ["10.0.0.0/8"]\n', "proxy-protocol = true\n"
        for text, options in ((trusted + speaks, ()), (trusted, ("--proxy-protocol",)), (speaks, ("--trusted-proxy", "10.0.0.0/8"))):
            path.write_text(text + root)
            done = subprocess.run([harness.PROGRAM, "--check", "--config", str(path), *options], capture_output=True, text=True, timeout=PATIENCE_S)
            expect(done.returncode == 0, text, options, done)
        for text, options in ((speaks, ()), ("", ("--proxy-protocol",))):
            path.write_text(text + root)
            expect("--proxy-protocol: needs --trusted-proxy" in (line := refused("--check", "--config", str(path), *options)), line)
        expect("--proxy-protocol: needs --trusted-proxy" in (line := refused("--root", folder, "--proxy-protocol")), line)


@test
def what_is_wrong_can_be_told_without_serving():
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as taken:
        path = pathlib.Path(folder, "web.toml")
        port, log, pem = taken.getsockname()[1], f"{folder}/log", f"{folder}/cert.pem"
        os.mkfifo(f"{folder}/pipe")  # that nobody reads
        start, root = f'listen = "127.0.0.1:{port}"\n', f'[[host]]\nroot = "{folder}"\n'
        host = root + f'certificate = "{pem}"\nkey = "{pem}"\nhttps-only = true\n'  # a manager may pass the socket that these need
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=a", "-keyout", pem, "-out",
                        pem + "2"], check=True, capture_output=True)
        pathlib.Path(pem).write_text(pathlib.Path(pem).read_text() + pathlib.Path(pem + "2").read_text())
        any_port = host.replace("https-only = true\n", "")
        no_certificate_first = root + host.replace("[[host]]", '[[host]]\nnames = ["b"]').replace("https-only = true\n", "")
        for text in (start + root, start + f'access-log = "{log}"\n' + root, f'access-log = "{folder}/pipe"\n' + root, host, any_port, no_certificate_first):
            path.write_text(text)
            done = subprocess.run([harness.PROGRAM, "--check", "--config", str(path)], capture_output=True, text=True, timeout=PATIENCE_S)
            expect(done.returncode == 0 and done.stderr == "", text, done)
            remark = {host: " can be served, but only if a socket for TLS is passed", any_port: " can be served, by TLS if a socket for it is passed",
                      no_certificate_first: " and 1 more can be served, without TLS, for the first host has no certificate"}.get(text, " can be served")
            expect(done.stdout == f"tartan-web: nothing is wrong: {folder}{remark}\n", done)
        expect(not pathlib.Path(log).exists())
        cases = ((start + '[[host]]\nroot = "/none"\n', ":3: host.root: cannot read the folder '/none': No such file or directory"),
                 (f'access-log = "{folder}/none/log"\n' + root, f":1: access-log: cannot write the access log '{folder}/none/log': No such file or directory"),
                 (f'access-log = "{folder}"\n' + root, f":1: access-log: cannot write the access log '{folder}': Is a directory"),
                 ('user = "no such user"\n' + root, ":1: user: there is no user 'no such user'"),
                 (root + "https-only = true\n", ":3: host.https-only: needs a port for TLS"),
                 (host.replace(pem, pem + "3"), f":3: host.certificate: cannot use the certificate '{pem}3'"),
                 (start + "workers = -1\n" + root, ":2: workers: "))
        for text, said in cases:
            path.write_text(text)
            expect(f"{path}{said}" in (line := refused("--check", "--config", str(path))), line)


@test
def a_site_that_is_published_anew_is_served():
    """By a symbolic link to another folder, and by another folder of the same name."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        for name in ("1", "2", "3"):
            (path / name).mkdir()
            (path / name / "index.html").write_text(name)
            (path / name / f"only{name}").write_text(name)
        (path / "site").symlink_to("1")
        with harness.server(root=path / "site") as s, client(s.port) as c:
            expect(c.get("/")[2] == b"1")
            (path / "next").symlink_to("2")
            (path / "next").rename(path / "site")
            wait_until(lambda: c.get("/")[2] == b"2", "the folder that the link leads to now")
            expect(c.get("/only2")[0] == 200 and c.get("/only1")[0] == 404)
            (path / "2").rename(path / "old")
            (path / "3").rename(path / "2")
            wait_until(lambda: c.get("/")[2] == b"3", "the folder that has the name now")


@test
def an_option_goes_before_the_file():
    folder = folder_of_hosts('listen = "127.0.0.1:0"\nworkers = 5\n[[host]]\nroot = "$/a"\n')
    with folder as s:
        expect(" with 2 workers " in s.line, s.line)


@test
def a_folder_names_what_is_in_it_only_if_it_shall():
    text = 'listen = "127.0.0.1:0"\n[[host]]\nroot = "$"\nlistings = true\n[[host]]\nnames = ["b"]\nroot = "$"\n'
    with folder_of_hosts(text) as s:
        c = client(s.ports[0])
        status, headers, body = c.get("/")
        expect(status == 200 and headers["content-type"].startswith("text/html") and b'<a href="./a/">a/</a>' in body and b">web.toml<" in body, body)
        c.send(b"GET / HTTP/1.1\r\nHost: b\r\n\r\n")
        expect(c.response()[0] == 404)
        c.socket.close()


@test
def files_say_how_long_they_may_be_kept_if_they_shall():
    text = 'listen = "127.0.0.1:0"\n[[host]]\nroot = "$/a"\ncache-control = "max-age=60"\n[[host]]\nnames = ["b"]\nroot = "$/b"\n'
    with folder_of_hosts(text) as s:
        c = client(s.ports[0])
        expect(c.get("/")[1]["cache-control"] == "max-age=60")
        expect(c.get("/", "If-None-Match: *\r\n")[:1] == (304,))
        expect("cache-control" not in c.get("/none")[1])
        c.send(b"GET / HTTP/1.1\r\nHost: b\r\n\r\n")
        expect("cache-control" not in c.response()[1])
        c.socket.close()


@test
def an_error_may_have_a_page():
    text = """
listen = "127.0.0.1:0"
access-log = "$/log"
[[host]]
root = "$/a"
error-pages = { 404 = "/gone.html", 403 = "/large" }
[[host]]
names = ["b"]
root = "$/b"
"""
    with folder_of_hosts(text) as s:
        (s.path / "a" / "gone.html").write_text("<p>gone</p>")
        c = client(s.ports[0])
        for fields in ("", "If-None-Match: *\r\n", "Range: bytes=0-1\r\n", "Accept-Encoding: gzip\r\n"):
            status, headers, body = c.get("/none", fields)
            expect(status == 404 and body == b"<p>gone</p>" and headers["content-type"] == "text/html; charset=utf-8", status, body)
            expect(set(headers) == {"server", "content-type", "content-length", "date"}, headers)
            c.send(get("/none", fields, "HEAD"))
            expect(c.response(with_body=False)[1]["content-length"] == "11")
        expect(c.get("/..")[::2] == (403, b"a" * 200_000) and c.get("//a")[::2] == (404, b"<p>gone</p>"))
        expect(c.get("/%zz")[::2] == (400, b"400 Bad Request\n"))
        expect(c.get("/gone.html")[0] == 200)
        c.send(b"GET /none HTTP/1.1\r\nHost: b\r\n\r\n")
        expect(c.response()[2] == b"404 Not Found\n", "another host has none")
        (s.path / "a" / "gone.html").unlink()
        wait_until(lambda: c.get("/none")[2] == b"404 Not Found\n", "the page to be gone")
        c.socket.close()
        log = s.path / "log"
        wait_until(lambda: ' 403 200000 "' in log.read_text() and ' 404 11 "' in log.read_text() and ' 404 0 "' in log.read_text(), "the log's lines")


@test
def each_answer_has_what_its_host_adds():
    text = """
listen = "127.0.0.1:0"
[[host]]
root = "$/a"
headers = { X-Frame-Options = "DENY", Content-Security-Policy = "default-src 'self'", Content-Language = "en", Strict-Transport-Security = "max-age=1" }
error-pages = { 403 = "/large" }
[[host]]
names = ["b"]
root = "$/b"
"""
    with folder_of_hosts(text) as s:
        (s.path / "a" / "folder").mkdir()
        c = client(s.ports[0])
        with_page = (200, get("/")), (206, get("/", "Range: bytes=0-0\r\n")), (304, get("/", "If-None-Match: *\r\n"))
        others = ((301, get("/folder")), (403, get("/..")), (404, get("/none")), (405, get("/", method="POST")), (405, get("*", method="OPTIONS")),
                  (501, get("/", method="BREW")), (412, get("/", 'If-Match: "a"\r\n')), (416, get("/", "Range: bytes=9-\r\n")), (400, get("/%zz")))
        for wanted, request in with_page + others:
            c.send(request)
            status, headers, _ = c.response()
            expect(status == wanted, request, status)
            expect(headers["x-frame-options"] == "DENY" and headers["content-security-policy"] == "default-src 'self'", request, headers)
            expect("strict-transport-security" in headers, "a server in front may speak TLS", request)
            expect(("content-language" in headers) == (status in (200, 206, 304)), request, headers)
        for request in (get("/none"), get("/", method="POST"), get("http://b/none")):
            c.send(request.replace(b"Host: a", b"Host: b"))
            expect("x-frame-options" not in c.response()[1], request)
        c.send(b"POST http://b/ HTTP/1.1\r\nHost: a\r\n\r\n")
        expect("x-frame-options" not in c.response()[1], "the target says which host")
        c.send(b"no request\r\n")
        status, headers, _ = c.response()
        expect(status == 400 and "x-frame-options" not in headers, status, headers)
        c.socket.close()


@test
def types_may_be_set():
    with folder_of_hosts('listen = "127.0.0.1:0"\n[types]\nnew = "application/x-new"\nhtml = "text/plain"\n[[host]]\nroot = "$/a"\n') as s:
        (s.path / "a" / "a.new").write_text("new")
        c = client(s.ports[0])
        expect(c.get("/a.new")[1]["content-type"] == "application/x-new" and c.get("/")[1]["content-type"] == "text/plain; charset=utf-8")
        c.socket.close()


@test
def the_file_of_the_guide_is_one():
    guide = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "guide" / "web-server.md").read_text()
    text = guide.split("```toml\n")[1].split("```")[0]
    for old, new in ((":8080", ":0"), ("/srv/example", "$/a"), ("/srv/other", "$/b"), ("# access-log", "access-log"), ("/var/log/tartan", "$")):
        expect(old in text, old)
        text = text.replace(old, new)
    with folder_of_hosts(text) as s:
        c = client(s.ports[0])
        expect(c.get("/nothing", "")[2] == b"404 Not Found\n")
        c.send(b"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n")
        expect(c.response()[2] == b"b")
        c.socket.close()
