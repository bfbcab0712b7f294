"""Pre-compressed siblings: page.html.br and page.html.gz are sent instead of page.html to who accepts them."""
import gzip
import os

import harness
from harness import expect, get, replace, server, test, wait_until
from partial_content import tagged

PLAIN, PACKED, SMALLER = b"<p>siblings</p>\n" * 9, gzip.compress(b"<p>siblings</p>\n" * 9, mtime=0), b"as if by brotli"


class siblings:
    """page.html with one or both, all of one age; gone again at the end."""
    def __init__(self, **contents):
        self.files = {harness.ROOT / "packed.html": PLAIN}
        self.files |= {harness.ROOT / f"packed.html.{suffix}": content for suffix, content in contents.items()}

    def __enter__(self):
        for path, content in self.files.items():
            replace(path, content)
            os.utime(path, (1_000_000_000, 1_000_000_000))
        return self

    def __exit__(self, *_):
        for path in self.files:
            path.unlink(missing_ok=True)


def coded(client, accepted, path="/packed.html", more=""):
    """(content-encoding or nothing, headers, body)."""
    status, headers, body = client.get(path, (f"Accept-Encoding: {accepted}\r\n" if accepted else "") + more)
    expect(status == 200, status, headers)
    return headers.get("content-encoding", ""), headers, body


@test
def a_sibling_is_sent_to_who_accepts_it():
    with siblings(gz=PACKED, br=SMALLER), server() as s, s.connect() as c:
        for accepted, coding, content in (("gzip, br", "br", SMALLER), ("gzip", "gzip", PACKED), ("br;q=0.5, gzip", "gzip", PACKED), ("*", "br", SMALLER),
                                          ("deflate", "", PLAIN), ("", "", PLAIN), ("identity", "", PLAIN)) * 2:
            found, headers, body = coded(c, accepted)
            expect((found, body) == (coding, content), accepted, found, body)
            expect(headers["content-type"] == "text/html; charset=utf-8" and headers["vary"] == "Accept-Encoding", headers)
            c.send(get("/packed.html", f"Accept-Encoding: {accepted}\r\n" if accepted else "", "HEAD"))
            _, known, _ = c.response(with_body=False)
            expect(known["content-length"] == str(len(content)) and known.get("content-encoding", "") == coding, known)
        expect("vary" not in c.get("/page.html", "Accept-Encoding: gzip\r\n")[1])
        expect(c.get("/packed.html.gz")[2] == PACKED)


@test
def a_large_sibling_comes_from_the_disk():
    with siblings(gz=harness.LARGE, br=SMALLER), server("--largest-page", "100") as s, s.connect() as c:
        for _ in range(2):
            expect(coded(c, "gzip")[::2] == ("gzip", harness.LARGE))
            expect(coded(c, "br")[::2] == ("br", SMALLER))
            expect(coded(c, "")[::2] == ("", PLAIN))


@test
def each_representation_has_a_tag_of_its_own():
    with siblings(gz=PACKED, br=SMALLER), server("--recheck", "0") as s, s.connect() as c:
        tagged(c, "/packed.html")
        tags = {}
        for coding in ("gzip", "br", ""):
            tags[coding] = wait_until(lambda: coded(c, coding)[1].get("etag"), "a tag: it was written a moment ago")
        expect(len(set(tags.values())) == 3, tags)
        for coding, tag in tags.items():
            status, headers, _ = c.get("/packed.html", f"Accept-Encoding: {coding}\r\nIf-None-Match: {tag}\r\n")
            expect(status == 304 and headers["vary"] == "Accept-Encoding" and headers["etag"] == tag, status, headers)
        expect(coded(c, "br", more=f"If-None-Match: {tags['gzip']}\r\n")[0] == "br")


@test
def a_part_is_of_what_would_be_sent_without_a_range():
    for content, options in ((PACKED, ()), (harness.LARGE, ("--largest-page", "100"))):
        with siblings(gz=content), server(*options) as s, s.connect() as c:
            end = f"{len(content) - 1}/{len(content)}"
            for _ in range(2):
                status, headers, body = c.get("/packed.html", "Accept-Encoding: gzip\r\nRange: bytes=5-\r\n")
                expect((status, body) == (206, content[5:]) and headers["content-encoding"] == "gzip", status, headers)
                expect(headers["content-range"] == f"bytes 5-{end}" and headers["vary"] == "Accept-Encoding", headers)
            status, headers, _ = c.get("/packed.html", f"Accept-Encoding: gzip\r\nRange: bytes={len(content)}-\r\n")
            expect(status == 416 and headers["content-range"] == f"bytes */{len(content)}", status, headers)
            for accepted in ("", "Accept-Encoding: identity\r\n", "Accept-Encoding: identity;q=1, *;q=0\r\n"):
                status, headers, body = c.get("/packed.html", accepted + "Range: bytes=0-4\r\n")
                expect(status == 206 and body == PLAIN[:5] and "content-encoding" not in headers, accepted, status, headers, body)
            status, headers, body = c.get("/packed.html", "Accept-Encoding: gzip\r\nRange: bytes=0-1,4-5\r\n")
            expect((status, body) == (200, content) and headers["content-encoding"] == "gzip", status, headers)
            status, headers, body = c.get("/packed.html", "Range: bytes=0-1,4-5\r\n")
            expect(status == 206 and headers["content-type"].startswith("multipart/byteranges; "), status, headers)


@test
def who_was_cut_off_gets_the_rest_of_what_it_has():
    with siblings(gz=PACKED, br=SMALLER), server("--recheck", "0") as s, s.connect() as c:
        tagged(c, "/packed.html")
        headers = wait_until(lambda: (found := coded(c, "gzip")[1]).get("etag") and found.get("last-modified") and found, "a tag and a date")
        tag, date = headers["etag"], headers["last-modified"]
        for coding, condition, wanted in (("gzip", f"If-Range: {tag}", 206), ("gzip", f"If-Range: {date}", 206), ("gzip", f"If-Match: {tag}", 206),
                                          ("gzip", 'If-None-Match: "other"', 206), ("gzip", f"If-None-Match: {tag}", 304), ("br", f"If-Range: {tag}", 200),
                                          ("", f"If-Range: {tag}", 200), ("br", f"If-Match: {tag}", 412), ("", f"If-Match: {tag}", 412)):
            status, headers, body = c.get("/packed.html", f"Accept-Encoding: {coding}\r\n{condition}\r\nRange: bytes=5-\r\n")
            expect(status == wanted, coding, condition, status)
            if status == 206:
                expect(body == PACKED[5:] and headers["content-encoding"] == "gzip" and headers["etag"] == tag, headers)
            elif status == 200:
                expect(body == (SMALLER if coding else PLAIN), headers, body)


@test
def a_range_that_does_not_count_changes_nothing():
    with siblings(gz=PACKED), server() as s, s.connect() as c:
        many = ",".join(f"{n}-{n}" for n in range(17))
        for more in ("Range: items=0-1\r\n", f"Range: bytes={many}\r\n", 'If-Range: "another"\r\nRange: bytes=0-1\r\n'):
            status, headers, body = c.get("/packed.html", "Accept-Encoding: gzip\r\n" + more)
            expect(status == 200 and body == PACKED and headers["content-encoding"] == "gzip", more, status, headers)
            expect(c.get("/packed.html", more)[2] == PLAIN, more)


@test
def a_sibling_that_is_older_than_its_file_is_left_alone():
    with siblings(gz=PACKED), server("--recheck", "0") as s, s.connect() as c:
        expect(coded(c, "gzip")[0] == "gzip")
        replace(harness.ROOT / "packed.html", b"<p>newer</p>\n")
        found, headers, body = coded(c, "gzip")
        expect((found, body) == ("", b"<p>newer</p>\n") and "vary" not in headers, found, headers)
        newer = harness.ROOT / "packed.html.gz"
        replace(newer, gzip.compress(b"<p>newer</p>\n"))
        os.utime(newer, ns=(os.stat(harness.ROOT / "packed.html").st_mtime_ns,) * 2)  # as gzip does, and touch -r
        expect(wait_until(lambda: coded(c, "gzip")[0], "a sibling that is two seconds old") == "gzip")
        expect(gzip.decompress(coded(c, "gzip")[2]) == b"<p>newer</p>\n")


@test
def a_sibling_is_not_sent_while_it_is_written():
    with siblings(), server("--recheck", "0") as s, s.connect() as c, open(harness.ROOT / "packed.html.gz", "wb") as file:
        try:
            for part in (b"", PACKED[:10], PACKED[10:]):
                file.write(part)
                file.flush()
                os.utime(file.fileno())  # this machine may be slow
                found, headers, body = coded(c, "gzip")
                expect((found, body) == ("", PLAIN) and "vary" not in headers, part, found, headers)
            os.utime(file.fileno(), (1_000_000_000, 1_000_000_000))
            expect(coded(c, "gzip")[::2] == ("gzip", PACKED))
        finally:
            (harness.ROOT / "packed.html.gz").unlink()


@test
def a_file_from_before_1980_is_known_by_its_tag_alone():
    path = harness.ROOT / "reproducible"
    with server("--recheck", "0") as s, s.connect() as c:
        tags = set()
        for content in (b"first", b"other"):
            replace(path, content)
            os.utime(path, (1, 1))
            headers = wait_until(lambda: (found := c.get("/reproducible")[1]).get("etag") and found, "a tag: it was changed a moment ago")
            expect("last-modified" not in headers, headers)
            tags.add(headers["etag"])
            expect(c.get("/reproducible", "If-Modified-Since: Sun, 06 Nov 2044 08:49:37 GMT\r\n")[2] == content)
            expect(c.get("/reproducible", f"If-None-Match: {headers['etag']}\r\n")[0] == 304)
        expect(len(tags) == 2, tags)
        path.unlink()


@test
def a_sibling_that_has_gone_is_not_missed():
    with siblings(gz=PACKED, br=SMALLER), server("--recheck", "1000") as s, s.connect() as c:
        expect(coded(c, "")[2] == PLAIN)  # known to have siblings, which nobody has asked for
        (harness.ROOT / "packed.html.br").unlink()
        for _ in range(2):
            expect(coded(c, "br")[::2] == ("", PLAIN))
        expect(coded(c, "gzip")[::2] == ("gzip", PACKED))


@test
def siblings_can_be_turned_off():
    with siblings(gz=PACKED), server("--no-precompressed") as s, s.connect() as c:
        found, headers, body = coded(c, "gzip")
        expect((found, body) == ("", PLAIN) and "vary" not in headers, headers)
