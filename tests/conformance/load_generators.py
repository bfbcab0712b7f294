"""wrk, ab and h2load: what they count as an error may not occur once. How fast they are is not looked at."""
import pathlib
import re

import judged
from harness import PATIENCE_S, expect
from judged import FILES, PAGE, call, case, need

SECONDS = 3  # for wrk, which knows no number of requests
PIPELINE = """
init = function(args)
  local all = {}
  for n = 1, 8 do all[n] = wrk.format("GET", n % 2 == 0 and "/page.html" or "/nothing") end
  request_text = table.concat(all)
end
request = function() return request_text end
"""


def wrk(url, *options):
    need("wrk")
    text = call("wrk", "-t", "2", "-c", "100", "-d", SECONDS, "--timeout", PATIENCE_S, *options, url)[0]
    expect(int(re.search(r"(\d+) requests in", text)[1]) > 100, text)
    expect("Socket errors" not in text, text)
    return text


@case("wrk")
def no_error_in_thousands_of_answers():
    with judged.judged() as s:
        for url in (f"{s.http}/page.html", f"{s.http}/large.bin", f"{s.https}/page.html"):
            text = wrk(url)
            expect("Non-2xx" not in text, text)


@case("wrk")
def pipelined_requests_have_each_their_answer():
    script = judged.SCRATCH / "pipeline.lua"
    script.write_text(PIPELINE)
    with judged.judged() as s:
        text = wrk(f"{s.http}/page.html", "-s", script)
        every, others = int(re.search(r"(\d+) requests in", text)[1]), int(re.search(r"Non-2xx or 3xx responses: (\d+)", text)[1])
        expect(abs(every - 2 * others) <= 8 * 100, "one half is found, the other is not", text)


def ab(url, *options, number=5000):
    need("ab")
    text = call("ab", "-q", "-n", number, "-c", "50", *options, url)[0]
    count = {name: int(value) for name, value in re.findall(r"^([\w -]+):\s+(\d+)(?: bytes)?$", text, re.MULTILINE)}
    expect(count["Complete requests"] == number and count["Failed requests"] == 0 and "Non-2xx responses" not in count, text)
    expect("Write errors" not in count, text)
    return count


@case("ab")
def version_1_0_is_served_with_and_without_keeping():
    with judged.judged() as s:
        for base in (s.http, s.https):
            number = 5000 if base == s.http else 1000
            for name in ("page.html", "plain.txt"):
                count = ab(f"{base}/{name}", number=number)
                expect(count["Document Length"] == len(FILES[name]) and count["HTML transferred"] >= number * len(FILES[name]), count)
                kept = ab(f"{base}/{name}", "-k", number=number)
                expect(kept["Document Length"] == len(FILES[name]) and kept["Keep-Alive requests"] == number, kept)
        ab(f"{s.http}/large.bin", "-k", number=500)


@case("ab")
def a_head_and_a_range_are_served_as_well():
    with judged.judged() as s:
        expect(ab(f"{s.http}/page.html", "-i", "-k")["Document Length"] == 0)
        expect(ab(f"{s.http}/large.bin", "-k", "-H", "Range: bytes=10-109")["Document Length"] == 100)
        expect(0 < ab(f"{s.http}/page.html", "-k", "-H", "Accept-Encoding: br")["Document Length"] < len(PAGE))


def h2load(url, *options, number=5000):
    need("h2load")
    text = call("h2load", "--h1", "-t", "2", "-c", "50", "-n", number, *options, url)[0]
    expect(f"{number} total, {number} started, {number} done, {number} succeeded, 0 failed, 0 errored, 0 timeout" in text, text)
    expect(f"status codes: {number} 2xx, 0 3xx, 0 4xx, 0 5xx" in text, text)
    return text


@case("h2load")
def every_request_succeeds():
    with judged.judged() as s:
        for base in (s.http, s.https):
            for options in ((), ("-m", "10")):  # of HTTP/1.1: so many at a time in a pipeline
                text = h2load(f"{base}/page.html", *options)
                expect(f"({5000 * len(PAGE)}) data" in text, "every byte of every body", text)
            h2load(f"{base}/large.bin", number=500)


@case("h2load")
def only_http_1_is_agreed_to():
    with judged.judged() as s:
        text = call("h2load", "-n", "50", "-c", "5", f"{s.https}/page.html", status=(0, 1))[0]
        expect("50 succeeded" in text and "Application protocol: http/1.1" in text and "No protocol negotiated" not in text, text)


@case("h2load")
def many_names_are_served_in_turn():
    names = judged.SCRATCH / "uris"
    with judged.judged() as s:
        pathlib.Path(names).write_text("".join(f"{s.http}/{name}\n" for name in ("page.html", "plain.txt", "folder/", "large.bin")))
        h2load(s.http, "-i", names, number=2000)
