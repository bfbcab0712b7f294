"""TLS: who is believed, what is resumed, what is no TLS, and certificates that change."""
import os
import pathlib
import select
import signal
import ssl
import subprocess
import tempfile

import harness
from harness import LARGE, PATIENCE_S, client, expect, get, server, test, wait_until


EC, RSA = ("ec", "ec_paramgen_curve:prime256v1"), ("rsa", "rsa_keygen_bits:2048")


def certificate_for(folder, name, serial=1, kind=EC):
    """Files of a certificate that vouches for itself: (certificate, key)."""
    certificate, key = f"{folder}/{name}.pem", f"{folder}/{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", kind[0], "-pkeyopt", kind[1], "-nodes", "-days", "2", "-subj", f"/CN={name}",
                    "-addext", f"subjectAltName=DNS:{name}", "-set_serial", str(serial), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


class secured:
    """A server with two hosts and TLS."""
    def __init__(self, *options, complaint="", first=(), also_plain=False):
        self.folder = tempfile.TemporaryDirectory()
        self.complaint = complaint
        here = self.folder.name
        lines = ['listen = "127.0.0.1:0"'] * also_plain + ['listen-tls = "127.0.0.1:0"']
        for name in ("a.example", "b.example"):
            certificate, key = certificate_for(here, name)
            os.mkdir(f"{here}/{name}")
            pathlib.Path(here, name, "index.html").write_text(name)
            lines += ["[[host]]", f'names = ["{name}"]', f'root = "{harness.ROOT if name[0] == "a" else here + "/" + name}"', f'certificate = "{certificate}"',
                      f'key = "{key}"', *(first if name[0] == "a" else ())]
        path = pathlib.Path(here, "web.toml")
        path.write_text("\n".join(lines) + "\n")
        self.command = [harness.PROGRAM, "--config", str(path), "--workers", "2", *options]

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        expect(" https://127.0.0.1:" in line, line, self.process.poll())
        self.port = int(line.split("https://127.0.0.1:")[1].split(" ")[0])
        self.plain_port = int(line.split("http://127.0.0.1:")[1].split(",")[0]) if " http://" in line else None
        return self

    def __exit__(self, *_):
        self.process.terminate()
        errors = self.process.communicate(timeout=PATIENCE_S)[1]
        self.folder.cleanup()
        expect(self.process.returncode == 0 and errors == self.complaint, self.process.returncode, errors)

    def context(self, *names):
        made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        for name in names or ("a.example",):
            made.load_verify_locations(f"{self.folder.name}/{name}.pem")
        made.set_alpn_protocols(["http/1.1"])
        return made

    def connect(self, context=None, name="a.example", session=None):
        c = client(self.port)
        c.socket = (context or self.context(name)).wrap_socket(c.socket, server_hostname=name, session=session, suppress_ragged_eofs=False)
        return c


@test
def pages_come_over_tls():
    with secured() as s:
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context = s.context()
            context.minimum_version = context.maximum_version = version
            with s.connect(context) as c:
                expect(c.socket.selected_alpn_protocol() == "http/1.1")
                for _ in range(2):
                    expect(c.get("/page.html")[2] == b"<p>page</p>\n")
                    expect(c.get("/large.bin")[2] == LARGE)
                    expect(c.get("/large.bin", "Range: bytes=5-1000000\r\n")[2] == LARGE[5:1000001])
                    expect(c.get("/nothing")[0] == 404)
                c.send(get("/page.html") * 50)
                for _ in range(50):
                    expect(c.response()[0] == 200)


@test
def each_host_has_its_certificate():
    with secured() as s:
        with s.connect(name="b.example") as c:
            c.send(b"GET / HTTP/1.1\r\nHost: b.example\r\n\r\n")
            expect(c.response()[2] == b"b.example")
        context = s.context("a.example", "b.example")
        context.check_hostname = False
        for name in ("b.example.", "B.example"):
            with s.connect(context, name=name) as c:
                expect(dict(c.socket.getpeercert()["subject"][0])["commonName"] == "b.example", name)
        with client(s.port) as c:  # names none
            c.socket = context.wrap_socket(c.socket)
            expect(c.get("/page.html")[0] == 200)


@test
def a_session_is_resumed():
    with secured() as s:
        context = s.context()
        for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            context.maximum_version = version
            with s.connect(context) as c:
                expect(not c.socket.session_reused)
                c.get("/page.html")
                session = c.socket.session
            with s.connect(context, session=session) as c:
                expect(c.socket.session_reused and c.get("/page.html")[0] == 200, version)


@test
def who_speaks_another_protocol_is_refused():
    with secured() as s:
        context = s.context()
        context.set_alpn_protocols(["h2"])
        try:
            s.connect(context).socket.close()
            expect(False, "h2 was agreed to")
        except ssl.SSLError as error:
            expect("NO_APPLICATION_PROTOCOL" in str(error).upper().replace(" ", "_"), error)
        for bytes_sent in (b"SSH-2.0-x\r\n", b"\x16\x03\x01\x00\x05hello", b"\x00" * 100):
            with client(s.port) as c:
                c.send(bytes_sent)
                c.finish()
                expect(b"HTTP/1.1" not in c.rest())


@test
def plain_http_is_told_to_come_with_tls():
    with secured() as s, client(s.port) as c:
        c.send(get("/page.html"))
        status, headers, body = c.response()
        expect((status, headers["connection"]) == (400, "close") and b"https://" in body, status, headers, body)
        expect(c.rest() == b"")


@test
def a_handshake_has_a_time_limit():
    with secured("--header-timeout", "0.2") as s:
        for beginning in (b"", b"\x16\x03\x01"):
            with client(s.port) as c:
                c.send(beginning)
                expect(c.rest() == b"")


@test
def the_end_is_told():
    with secured() as s:
        with s.connect() as c:
            c.get("/page.html")
            s.process.send_signal(signal.SIGTERM)
            expect(c.socket.recv(1) == b"")  # an error, if the connection ended without a close_notify
        s.process.wait(timeout=PATIENCE_S)  # a second signal would end it at once


@test
def who_has_finished_is_told_the_same():
    with secured() as s, s.connect() as c:
        c.get("/page.html")
        plain = c.socket.unwrap()  # an error, if nothing came back
        expect(plain.recv(1) == b"")
        plain.close()


@test
def each_host_resumes_sessions():
    with secured() as s:
        for name in ("a.example", "b.example"):
            context = s.context(name)
            with s.connect(context, name) as c:
                c.get("/")
                session = c.socket.session
            with s.connect(context, name, session) as c:
                expect(c.get("/")[0] == 200 and c.socket.session_reused, name)


@test
def openssl_resumes_with_a_ticket():
    with secured() as s:
        for version in ("-tls1_2", "-tls1_3"):
            done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{s.port}", "-servername", "a.example", version, "-reconnect"],
                                  input="", capture_output=True, text=True, timeout=PATIENCE_S)
            expect(version == "-tls1_3" or done.stdout.count("Reused, TLSv1.2") == 5, done.stdout)
            expect(done.returncode == 0, done)


@test
def certificates_are_read_anew():
    s = secured()
    with s:
        known = s.context()
        with s.connect(known) as before:
            before.get("/page.html")
            session = before.socket.session
            certificate_for(s.folder.name, "b.example", serial=78)
            s.process.send_signal(signal.SIGHUP)
            def is_reloaded():
                try:
                    with s.connect(s.context("b.example"), name="b.example") as c:
                        return c.socket.getpeercert()["serialNumber"] == "4E"
                except ssl.SSLCertVerificationError:
                    return False
            wait_until(is_reloaded, "the other host's new certificate")
            with s.connect(known, session=session) as c:
                expect(c.socket.session_reused, "a reload has cost a client its session")
            certificate_for(s.folder.name, "a.example", serial=77)
            s.process.send_signal(signal.SIGHUP)
            context = s.context()
            def is_new():
                try:
                    with s.connect(context) as c:
                        return c.socket.getpeercert()["serialNumber"] == "4D"
                except ssl.SSLCertVerificationError:
                    return False
            wait_until(is_new, "the new certificate")
            with client(s.port) as c:
                try:
                    c.socket = known.wrap_socket(c.socket, server_hostname="a.example", session=session)
                    expect(not c.socket.session_reused, "with another certificate, sessions begin anew")
                except ssl.SSLCertVerificationError:
                    pass
            expect(before.get("/page.html")[0] == 200)
        pathlib.Path(s.folder.name, "a.example.pem").write_text("nonsense")
        s.process.send_signal(signal.SIGHUP)
        expect(select.select([s.process.stderr], [], [], PATIENCE_S)[0], "not a word")
        line = s.process.stderr.readline()
        expect(line.startswith(f"tartan-web: all is as it was: {s.folder.name}/web.toml:5: host.certificate: cannot use the certificate '"), line)
        with s.connect(context) as c:
            expect(c.get("/page.html")[0] == 200)


@test
def who_comes_without_tls_is_sent_there_if_a_host_wants_that():
    with secured(first=("https-only = true", "headers = { X-More = 'yes', Strict-Transport-Security = 'max-age=9' }"), also_plain=True) as s:
        challenge = harness.ROOT / ".well-known" / "acme-challenge"
        challenge.mkdir(parents=True, exist_ok=True)
        (challenge / "a").write_text("token")
        with client(s.plain_port) as c:
            for host, to in (("a.example:80", "a.example"), ("A.example", "A.example"), ("evil.example", "a.example"), ("[::1]:80", "a.example")):
                c.send(get("/x%20y?z").replace(b"Host: a\r\n", f"Host: {host}\r\n".encode()))
                status, headers, _ = c.response()
                expect((status, headers["location"]) == (301, f"https://{to}/x%20y?z"), status, headers)
                expect(headers["x-more"] == "yes" and "strict-transport-security" not in headers, headers)
            for target in ("http://a.example?x=/1", "http://a.example/?x=/1"):
                expect(c.get(target)[1]["location"] == "https://a.example/?x=/1", target)
            c.send(get("/a#b"))
            expect(c.response()[0] == 400)
            expect(c.get("/.well-known/acme-challenge/a")[2] == b"token")
        with client(s.plain_port) as c:
            c.send(b"GET / HTTP/1.0\r\n\r\n")
            expect(c.response()[1]["location"] == "https://a.example/")
        with s.connect() as c:
            status, headers, _ = c.get("/page.html")
            expect((status, headers["x-more"], headers["strict-transport-security"]) == (200, "yes", "max-age=9"), status, headers)
            status, headers, _ = c.get("/nothing")
            expect((status, headers["x-more"], headers["strict-transport-security"]) == (404, "yes", "max-age=9"), status, headers)


@test
def a_certificate_that_cannot_be_used_is_named():
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = certificate_for(folder, "a")
        other, third = certificate_for(folder, "b")[1], certificate_for(folder, "c", kind=RSA)[1]
        locked = f"{folder}/locked"
        subprocess.run(["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:x", "-out", locked], check=True, capture_output=True)
        for options, said in ((("--certificate", f"{folder}/none", "--key", key), f"cannot use the certificate '{folder}/none' (No such file or directory)"),
                              (("--certificate", certificate, "--key", third), f"cannot use the key '{third}' with the certificate '{certificate}'"),
                              (("--certificate", certificate, "--key", locked), f"cannot use the key '{locked}', which has a passphrase"),
                              (("--certificate", certificate, "--key", other), f"cannot use the key '{other}'"),
                              (("--certificate", certificate), "--key"), ((), "--certificate for --listen-tls")):
            done = subprocess.run([harness.PROGRAM, "--root", str(harness.ROOT), "--listen-tls", "127.0.0.1:0", *options], capture_output=True, text=True,
                                  timeout=PATIENCE_S)
            expect(done.returncode == 2 and said in done.stderr and done.stderr.count("\n") == 1, done)


@test
def a_certificate_without_a_port_for_tls_is_told():
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = certificate_for(folder, "a")
        said = "tartan-web: there is a certificate, and no port for TLS: listen-tls, or a socket that is passed as https\n"
        with server("--certificate", certificate, "--key", key, complaint=said) as s, client(s.port) as c:
            expect(c.get("/page.html")[0] == 200)


@test
def one_port_may_speak_tls_and_another_not():
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = certificate_for(folder, "a.example")
        with server("--listen-tls", "127.0.0.1:0", "--certificate", certificate, "--key", key) as s, s.connect() as c:
            expect(c.get("/page.html")[0] == 200 and ", https://127.0.0.1:" in s.line, s.line)
