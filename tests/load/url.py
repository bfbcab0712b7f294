"""What a URL, --master and --join may say, and what is made of it."""
import http.server
import socket
import ssl
import subprocess
import threading

import harness
from harness import SOME, errors_of, expect, right, run, test
from odd_server import BODY, PATIENCE_S, odd_server


@test
def a_query_right_behind_the_host_is_sent_and_a_fragment_is_not():
    asked = {"?a=b": "/?a=b", "#c": "/", "?a=b#c": "/?a=b", "/x#c?d": "/x", "/x?a#c": "/x?a", "": "/"}
    for behind, target in asked.items():
        with odd_server(right) as s:
            result = run("--url", s.url(behind), *SOME)
        expect(errors_of(result) == {} and result["requests"] == 100, behind, result)
        expect(set(s.heads) == {f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{s.port}"}, behind, s.heads[0])


@test
def the_scheme_has_no_case_and_leading_zeros_of_a_port_mean_nothing():
    with odd_server(right) as s:
        result = run("--url", f"HTTP://127.0.0.1:{s.port:08}/x", *SOME)
    expect(errors_of(result) == {} and set(s.heads) == {f"GET /x HTTP/1.1\r\nHost: 127.0.0.1:{s.port}"}, s.heads[0])


@test
def a_url_that_is_refused_ends_the_program_before_anything_is_begun():
    """Each of these was once sent to another service, or to the right one with another target."""
    path = harness.SCRATCH / "refused.json"
    with odd_server(right) as s:
        for url, why in {f"http://127.0.0.1:{s.port + 65536}/": f"port {s.port + 65536} is above 65535, the highest port",
                         f"http://127.0.0.1:{s.port + (1 << 32)}/": "is above 65535, the highest port",
                         f"http://me@127.0.0.1:{s.port}/": "user information before '@' is not sent",
                         f"ftp://127.0.0.1:{s.port}/": "expected http://HOST:PORT/path",
                         f"http://127.0.0.1:{s.port}/a b": "write %20",
                         "http://::1/": "an IPv6 address stands in brackets"}.items():
            done = subprocess.run([harness.PROGRAM, "http", "--json", str(path), "--url", s.url(), "--url", url],
                                  capture_output=True, text=True, timeout=PATIENCE_S)
            expect(done.returncode == 2 and done.stdout == "", done)
            expect(done.stderr.startswith(f"tartan-load: --url: '{url}': ") and why in done.stderr, done.stderr)
            expect(done.stderr.count("\n") == 1, done.stderr)
            expect(s.connections == 0 and not path.exists(), "something was begun")


@test
def a_port_of_a_master_does_not_wrap_around():
    with socket.create_server(("127.0.0.1", 0)) as master:
        port = master.getsockname()[1]
        place = f"127.0.0.1:{port + 65536}"
        for options in (("--join", place), ("--url", "http://127.0.0.1:1/", "--master", place, "--injectors", "1")):
            said = run(*options, status=2)
            expect(f"port {port + 65536} is above 65535" in said, said)
        master.settimeout(0)
        try:
            master.accept()
            raise AssertionError("somebody joined it")
        except BlockingIOError:
            pass


@test
def a_master_refuses_the_url_that_its_injectors_would_refuse():
    said = run("--url", "http://127.0.0.1:65616/", "--master", "127.0.0.1:0", "--injectors", "1", status=2)
    expect("port 65616 is above 65535" in said and "waiting" not in said, said)


@test
def an_ipv6_address_is_asked_and_named_in_brackets():
    with odd_server(right, host="::1") as s:
        result = run("--url", f"http://[::1]:{s.port}?x", *SOME)
    expect(errors_of(result) == {} and result["requests"] == 100, result)
    expect(set(s.heads) == {f"GET /?x HTTP/1.1\r\nHost: [::1]:{s.port}"}, s.heads[0])


class tls_server:
    """Answers each request on each of its connections with BODY, under a certificate of its own."""

    def __enter__(self):
        key, certificate = harness.SCRATCH / "tls.key", harness.SCRATCH / "tls.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key),
                        "-out", str(certificate), "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"],
                       check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)

        class handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(BODY)))
                self.end_headers()
                self.wfile.write(BODY)

            def log_message(self, *_):
                pass

        class quiet(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):  # a client that refuses the certificate
                pass

        self.server = quiet(("127.0.0.1", 0), handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.certificate = str(certificate)
        self.url = f"https://127.0.0.1:{self.server.server_address[1]}/x"
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


@test
def a_sealed_server_is_asked_and_its_certificate_looked_at():
    with tls_server() as s:
        for options in (("--tls-ca", s.certificate), ("--tls-no-verify",)):
            result = run("--url", s.url, *options, "--clients", "2", "--requests", "20", "--warm-up", "0", "--requests-per-connection", "5")
            expect(result["requests"] == 20 and errors_of(result) == {} and result["connections"] >= 4, result)
        done = subprocess.run([harness.PROGRAM, "http", "--url", s.url, "--clients", "2", "--seconds", "0.2", "--warm-up", "0", "--json", "-"],
                              capture_output=True, text=True, timeout=PATIENCE_S)
        expect("no TLS connection to '127.0.0.1': certificate not accepted: self-signed certificate" in done.stderr, done.stderr)
        expect(done.stderr.count("no TLS connection") == 1, done.stderr)
        expect(done.returncode != 0, done)
