"""curl: whatever its own checks of the protocol object to is an exit status; what came is compared with the files."""
import json
import pathlib
import re
import subprocess
import tempfile

import judged
from harness import LARGE, PATIENCE_S, expect
from judged import ENVIRONMENT, FILES, HOST, PAGE, case

PLAIN = FILES["plain.txt"]
EACH = '%{stderr}\x01{"about": %{json}, "headers": %{header_json}}\x02'


class answers:
    """What one run of curl has brought: of each transfer its status, its header fields and what curl says about it; the bodies, joined."""

    def __init__(self, *arguments, status=0, stdin=b""):
        command = ["curl", "-q", "-sS", "--max-time", str(PATIENCE_S), "--cacert", str(judged.SCRATCH / "certificate.pem"), "-w", EACH, *map(str, arguments)]
        ended = subprocess.run(command, input=stdin, capture_output=True, env=ENVIRONMENT, timeout=2 * PATIENCE_S)
        self.body, self.said = ended.stdout, ended.stderr.decode("utf-8", "replace")
        expect(ended.returncode == status, *command, "ended with", ended.returncode, self.said)
        found = [json.loads(each) for each in re.findall("\x01(.*?)\x02", self.said, re.DOTALL)]
        self.about = [each["about"] for each in found]
        self.headers = [each["headers"] for each in found]

    @property
    def statuses(self):
        return [each["http_code"] for each in self.about]

    def field(self, name, of=0):
        values = self.headers[of].get(name, [])
        expect(len(values) == 1, name, self.headers[of])
        return values[0]

    def connections(self):
        return sum(each["num_connects"] for each in self.about)


def get(*arguments, body=None, statuses=(200,), **more):
    got = answers(*arguments, **more)
    expect(got.statuses == list(statuses), arguments, got.statuses, got.said[-500:])
    expect(body is None or got.body == body, arguments, "another body:", len(got.body), got.body[:200])
    return got


@case("curl")
def pages_come_with_their_bytes():
    with judged.judged() as s:
        for base in (s.http, s.https):
            for name, content in FILES.items():
                got = get(f"{base}/{name.replace(' ', '%20')}", body=content)
                expect(got.field("content-length") == str(len(content)), name)
            get("--fail", f"{base}/nothing", status=22, statuses=[404])
            got = get("-L", f"{base}/folder", body=FILES["folder/index.html"])
            expect(got.about[0]["num_redirects"] == 1)
            get("--path-as-is", f"{base}/../secret", statuses=[403])


@case("curl")
def a_head_is_a_get_without_its_body():
    with judged.judged() as s:
        for base in (s.http, s.https):
            for name in ("page.html", "large.bin", "empty.txt", "nothing"):
                head, got = answers("-I", f"{base}/{name}"), answers(f"{base}/{name}")
                expect(head.field("content-length") == got.field("content-length") == str(len(got.body)), name, head.headers)
                expect(head.statuses == got.statuses and head.headers[0].keys() == got.headers[0].keys(), name, head.headers, got.headers)
            both = get("-v", "-I", f"{base}/page.html", "-o", "/dev/null", "--next", "-sS", "-w", EACH, "--cacert", judged.SCRATCH / "certificate.pem",
                       f"{base}/plain.txt", body=PLAIN, statuses=(200, 200))
            expect(both.connections() == 1 and "Excess found" not in both.said, "a body behind the head", both.said)


@case("curl")
def ranges_are_parts_of_the_file():
    with judged.judged() as s:
        for base in (s.http, s.https):
            for asked, part in (("0-99", slice(0, 100)), ("-100", slice(-100, None)), ("900-", slice(900, None)), ("999-5000", slice(999, None))):
                got = get("-r", asked, f"{base}/plain.txt", body=PLAIN[part], statuses=[206])
                first = 1000 + part.start if part.start < 0 else part.start
                expect(got.field("content-range") == f"bytes {first}-{first + len(PLAIN[part]) - 1}/1000", got.headers)
            expect(get("-r", "1000-", f"{base}/plain.txt", statuses=[416]).field("content-range") == "bytes */1000")
            get("-r", "1000000-1500000", f"{base}/large.bin", body=LARGE[1000000:1500001], statuses=[206])
            several = get("-r", "0-9,20-29,-5", f"{base}/plain.txt", statuses=[206])
            expect(several.field("content-type").startswith("multipart/byteranges; boundary="), several.headers)
            expect(several.body.count(b"Content-Range: bytes ") == 3 and len(several.body) == int(several.field("content-length")), several.body)
            expect(get(f"{base}/plain.txt").field("accept-ranges") == "bytes", "what can be had is announced")


@case("curl")
def a_broken_download_is_resumed():
    with judged.judged() as s, tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "large.bin")
        path.write_bytes(LARGE[:1234567])
        get("-C", "-", "-o", path, f"{s.http}/large.bin", statuses=[206])
        expect(path.read_bytes() == LARGE)


@case("curl")
def what_is_known_comes_as_304():
    with judged.judged() as s, tempfile.TemporaryDirectory() as folder:
        tag, copy = pathlib.Path(folder, "tag"), pathlib.Path(folder, "copy")
        for url in (f"{s.http}/page.html", f"{s.https}/large.bin"):
            for more in ((), ("--compressed",)):
                get("--etag-save", tag, "-R", "-o", copy, *more, url)
                again = get("--etag-compare", tag, *more, url, body=b"", statuses=[304])
                expect(again.field("etag") == tag.read_text().strip() and "date" in again.headers[0], again.headers)
                get("-z", copy, *more, url, body=b"", statuses=[304])
            get("-z", "Sat, 01 Jan 2000 00:00:00 GMT", url)
            get("-H", 'If-Match: "another"', url, statuses=[412])


@case("curl")
def compressed_siblings_are_the_same_page():
    with judged.judged() as s:
        for base in (s.http, s.https):
            got = get("--compressed", f"{base}/page.html", body=PAGE)
            expect(got.field("content-encoding") == "br" and int(got.field("content-length")) < len(PAGE), got.headers)
            got = get("--compressed", "-H", "Accept-Encoding: gzip;q=1, br;q=0.5", f"{base}/page.html", body=PAGE)
            expect(got.field("content-encoding") == "gzip", got.headers)
            expect("content-encoding" not in get("-H", "Accept-Encoding: br;q=0, deflate", f"{base}/page.html", body=PAGE).headers[0])
            for fields in ([], ["-H", "Accept-Encoding: gzip"]):
                expect("accept-encoding" in get(*fields, f"{base}/page.html").field("vary").lower(), fields)


@case("curl")
def one_connection_is_used_for_many():
    with judged.judged() as s:
        for base in (s.http, s.https):
            got = get(f"{base}/plain.txt?[1-100]", body=PLAIN * 100, statuses=[200] * 100)
            expect(got.connections() == 1, got.connections())
            expect(get("-H", "Connection: close", f"{base}/plain.txt?[1-10]", statuses=[200] * 10).connections() == 10)
            got = get(f"{base}/nothing", f"{base}/plain.txt", f"{base}/folder", statuses=[404, 200, 301])
            expect(got.connections() == 1, "an error is no reason to close")


@case("curl")
def many_at_once_are_served():
    with judged.judged() as s, tempfile.TemporaryDirectory() as folder:
        for base in (s.http, s.https):
            got = get("-Z", "--parallel-immediate", "--parallel-max", "100", f"{base}/large.bin?[1-100]", "-o", f"{folder}/#1", statuses=[200] * 100)
            expect(len(got.about) == 100 and all(path.read_bytes() == LARGE for path in pathlib.Path(folder).iterdir()))


@case("curl")
def older_and_newer_versions_get_http_1():
    with judged.judged() as s:
        got = get("-0", f"{s.http}/page.html", body=PAGE)
        expect(got.field("connection") == "close", got.headers)
        got = get("-0", "-H", "Connection: keep-alive", f"{s.http}/plain.txt?[1-5]", body=PLAIN * 5, statuses=[200] * 5)
        expect(got.connections() == 1 and got.field("connection") == "keep-alive", got.headers)
        expect(get("--http2", f"{s.http}/page.html", body=PAGE).about[0]["http_version"] == "1.1", "an upgrade to h2c is passed over")
        expect(get("--http2", f"{s.https}/page.html", body=PAGE).about[0]["http_version"] == "1.1")
        command = ["curl", "-q", "-sS", "--max-time", str(PATIENCE_S), "--http2-prior-knowledge", f"{s.http}/"]
        refused = subprocess.run(command, capture_output=True, env=ENVIRONMENT)
        expect(refused.returncode not in (0, 28), "what is no HTTP/1 is refused at once", refused)
        get("--http0.9", f"{s.http}/page.html", body=PAGE)


@case("curl")
def a_proxy_form_of_the_target_is_understood():
    with judged.judged() as s:
        got = get("-x", s.http, "http://elsewhere.example/page.html", body=PAGE)
        expect(got.connections() == 1)
        tunnel = answers("-x", s.http, "https://elsewhere.example/", status=56)
        expect(tunnel.about[0]["http_connect"] == 405, "this is no proxy", tunnel.said)


@case("curl")
def an_upload_is_taken_or_refused_in_order():
    body = b"x" * 500000
    with judged.judged() as s:
        for base in (s.http, s.https):
            chunked = ("-H", "Transfer-Encoding: chunked", "-H", "Expect:", "--data-binary", "@-")
            got = get("-X", "GET", *chunked, f"{base}/plain.txt", f"{base}/plain.txt", stdin=body, body=PLAIN * 2, statuses=[200, 200])
            expect(got.connections() == 1, "the next request is found behind the body")
            get("-T", "-", "-H", "Expect:", f"{base}/plain.txt", stdin=body, statuses=[405])
            get("-H", "Expect:", "--data-binary", "@-", f"{base}/plain.txt", stdin=body, statuses=[405])
            get("-H", "Expect:", "--data-binary", "@-", f"{base}/plain.txt", stdin=body * 5, statuses=[413])


@case("curl")
def who_asks_to_go_on_does_not_wait():
    with judged.judged() as s:
        waits = ("--expect100-timeout", str(4 * PATIENCE_S), "-H", "Expect: 100-continue", "--data-binary", "@-")  # longer than curl may take
        for base in (s.http, s.https):
            get(*waits, f"{base}/plain.txt", stdin=b"x" * 5000, statuses=[405])
            get("-X", "GET", *waits, f"{base}/plain.txt", stdin=b"x" * 5000, body=PLAIN)
            get(*waits, f"{base}/plain.txt", stdin=b"x" * 2000000, statuses=[413])


@case("curl")
def a_slow_reader_gets_all_of_it():
    with judged.judged() as s:
        for base in (s.http, s.https):
            get("--limit-rate", "1M", "-r", "0-1999999", f"{base}/large.bin", body=LARGE[:2000000], statuses=[206])


@case("curl")
def tls_is_1_2_and_1_3():
    with judged.judged() as s:
        for version in ("1.2", "1.3"):
            got = get("-v", f"--tlsv{version}", "--tls-max", version, f"{s.https}/page.html", body=PAGE)
            expect(f"SSL connection using TLSv{version}" in got.said and "server accepted http/1.1" in got.said, got.said)
            expect(got.about[0]["ssl_verify_result"] == 0 and f"subject: CN={HOST}" in got.said, got.said)
        answers("--tlsv1.0", "--tls-max", "1.1", "--ciphers", "DEFAULT@SECLEVEL=0", f"{s.https}/page.html", status=35)
        answers("--cacert", "/dev/null", f"{s.https}/page.html", status=77)
        get("--no-alpn", f"{s.https}/page.html", body=PAGE)
        get(f"http://{HOST}:{s.tls_port}/", statuses=[400])
