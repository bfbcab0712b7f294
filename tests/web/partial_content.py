"""Conditions and ranges: what a client has already is not sent again."""
import re

import harness
from harness import LARGE, expect, get, replace, server, test, wait_until


def tagged(client, path):
    """(headers, body) of a page once it has a tag and a date: one that was changed a moment ago has none, for it may change again unseen."""
    def look():
        status, headers, body = client.get(path)
        expect(status == 200, status)
        return (headers, body) if "etag" in headers and "last-modified" in headers else None
    return wait_until(look, "a tag")


@test
def what_a_client_has_is_not_sent_again():
    with server("--recheck", "0") as s, s.connect() as c:
        for path in ("/page.html", "/large.bin"):
            headers, _ = tagged(c, path)
            tag, date = headers["etag"], headers["last-modified"]
            expect(re.fullmatch(r'"[0-9a-f.-]+"', tag), tag)
            for fields in (f"If-None-Match: {tag}\r\n", f'If-None-Match: "other", W/{tag}\r\n', "If-None-Match: *\r\n", f"If-Modified-Since: {date}\r\n",
                           f'If-None-Match: "other"\r\nIf-None-Match: {tag}\r\n'):
                for method in ("GET", "HEAD"):
                    c.send(get(path, fields, method))
                    status, known, body = c.response(with_body=False)
                    expect(status == 304 and known["etag"] == tag and known["last-modified"] == date, status, known)
                    expect("content-length" not in known and "content-type" not in known, known)
            for fields in ('If-None-Match: "other"\r\n', "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n", "If-Modified-Since: now\r\n",
                           f'If-None-Match: "other"\r\nIf-Modified-Since: {date}\r\n'):
                expect(c.get(path, fields)[0] == 200, fields)


@test
def a_condition_that_is_not_met_is_told():
    with server("--recheck", "0") as s, s.connect() as c:
        headers, _ = tagged(c, "/page.html")
        tag, date = headers["etag"], headers["last-modified"]
        for fields in ('If-Match: "other"\r\n', f"If-Match: W/{tag}\r\n", "If-Unmodified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n",
                       f'If-Match: "other"\r\nIf-None-Match: {tag}\r\n'):
            status, _, body = c.get("/page.html", fields)
            expect(status == 412 and body == b"412 Precondition Failed\n", status, body)
        for fields in (f"If-Match: {tag}\r\n", "If-Match: *\r\n", f"If-Unmodified-Since: {date}\r\n"):
            expect(c.get("/page.html", fields)[0] == 200, fields)
        expect(c.get("/nothing", "If-Match: *\r\n")[0] == 404)


@test
def a_changed_page_has_another_tag():
    with server("--recheck", "0") as s, s.connect() as c:
        headers, body = tagged(c, "/page.html")
        replace(harness.ROOT / "page.html", b"<p>next</p>\n")
        try:
            status, _, now = c.get("/page.html", f"If-None-Match: {headers['etag']}\r\n")
            expect(status == 200 and now == b"<p>next</p>\n", status, now)
            expect(tagged(c, "/page.html")[0]["etag"] != headers["etag"])
        finally:
            replace(harness.ROOT / "page.html", body)


@test
def a_part_of_a_page_comes_alone():
    with server() as s, s.connect() as c:
        for path, whole in (("/page.html", b"<p>page</p>\n"), ("/large.bin", LARGE)):
            size = len(whole)
            for asked, first, last in (("0-0", 0, 0), ("3-6", 3, 6), ("5-", 5, size - 1), ("-4", size - 4, size - 1), (f"0-{size + 9}", 0, size - 1)):
                status, headers, body = c.get(path, f"Range: bytes={asked}\r\n")
                expect(status == 206 and body == whole[first:last + 1], path, asked, status, body[:99])
                expect(headers["content-range"] == f"bytes {first}-{last}/{size}", headers)
            status, headers, _ = c.get(path, f"Range: bytes={size}-\r\n")
            expect(status == 416 and headers["content-range"] == f"bytes */{size}", status, headers)
            for ignored in ("bytes=2-1", "lines=1-2", "bytes=" + ",".join(f"{n}-{n}" for n in range(17)), "bytes=0-,0-"):
                status, headers, body = c.get(path, f"Range: {ignored}\r\n")
                expect(status == 200 and body == whole and headers["accept-ranges"] == "bytes", ignored, status)
            c.send(get(path, "Range: bytes=0-0\r\n", "HEAD"))
            status, headers, _ = c.response(with_body=False)
            expect(status == 200 and headers["content-length"] == str(size), status, headers)


@test
def several_parts_come_in_one_answer():
    with server() as s, s.connect() as c:
        for path, whole in (("/page.html", b"<p>page</p>\n"), ("/large.bin", LARGE)):
            size = len(whole)
            status, headers, body = c.get(path, "Range: bytes=8-9, 0-2, -1\r\n")
            kind, boundary = headers["content-type"].split("; boundary=")
            expect(status == 206 and kind == "multipart/byteranges", status, headers)
            before, *parts, end = body.split(b"--" + boundary.encode())
            expect(before == b"" and end == b"--\r\n" and len(parts) == 3, body[:300])
            for part, first, last in zip(parts, (8, 0, size - 1), (9, 2, size - 1)):
                head, content = part.split(b"\r\n\r\n", 1)
                expect(f"content-range: bytes {first}-{last}/{size}".encode() in head.lower(), head)
                expect(content == whole[first:last + 1] + b"\r\n", content)


@test
def a_part_is_sent_only_of_the_state_that_the_client_has():
    with server("--recheck", "0") as s, s.connect() as c:
        tag = tagged(c, "/page.html")[0]["etag"]
        expect(c.get("/page.html", f"Range: bytes=0-1\r\nIf-Range: {tag}\r\n")[0] == 206)
        for other in ('"other"', f"W/{tag}", "Sun, 06 Nov 1994 08:49:37 GMT"):
            expect(c.get("/page.html", f"Range: bytes=0-1\r\nIf-Range: {other}\r\n")[0] == 200, other)
        status, _, _ = c.get("/page.html", 'Range: bytes=99-\r\nIf-Match: "other"\r\n')
        expect(status == 412, status)
