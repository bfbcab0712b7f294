"""slowhttptest: while its slow clients stand, its own probe, a fresh connection each second, has to be served."""
import re

import judged
from harness import expect
from judged import call, case, need

CLIENTS = 400
LIMITS = ("--header-timeout", "3", "--idle-timeout", "3", "--write-timeout", "3", "--max-connections", "1000")
COUNTS = re.compile(r"^(initializing|pending|connected|error|closed|service available):\s+(\S+)", re.MULTILINE)
COLOR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def slow(s, *options, seconds=10):
    """What it said each time: of the last time the counts, and the reason for its end."""
    need("slowhttptest")
    text = COLOR.sub("", call("slowhttptest", "-c", CLIENTS, "-r", CLIENTS, "-l", seconds, "-p", "2", "-i", "1", "-v", "1", *options)[0])
    available = re.findall(r"service available:\s+(\w+)", text)
    expect(len(available) >= 2 and set(available) == {"YES"}, "the probe was not served:", available, text[-3000:])
    highest = {name: max(int(value) for key, value in COUNTS.findall(text) if key == name) for name in ("connected", "error", "closed")}
    expect(highest["connected"] > CLIENTS // 2 and highest["error"] == 0, highest, text[-3000:])
    return highest, text


def ended_by_server(found):
    highest, text = found
    expect("No open connections left" in text and highest["closed"] == CLIENTS, "slow clients were let stay", text[-3000:])


@case("slowhttptest")
def slow_heads_are_cut_off_and_others_served():
    with judged.judged(*LIMITS) as s:
        ended_by_server(slow(s, "-H", "-u", f"{s.http}/page.html"))


@case("slowhttptest")
def slow_bodies_are_cut_off_and_others_served():
    with judged.judged(*LIMITS) as s:
        ended_by_server(slow(s, "-B", "-s", "8192", "-u", f"{s.http}/page.html"))


@case("slowhttptest")
def slow_readers_are_cut_off_and_others_served():
    with judged.judged(*LIMITS) as s:
        ended_by_server(slow(s, "-X", "-w", "512", "-y", "1024", "-n", "1", "-z", "32", "-k", "3", "-u", f"{s.http}/large.bin", seconds=20))


@case("slowhttptest")
def many_ranges_harm_nobody():
    with judged.judged(*LIMITS) as s:
        slow(s, "-R", "-t", "GET", "-a", "10", "-b", "3000", "-u", f"{s.http}/large.bin")


@case("slowhttptest")
def slow_heads_over_tls_are_cut_off_and_others_served():
    with judged.judged(*LIMITS) as s:
        ended_by_server(slow(s, "-H", "-u", f"{s.https}/page.html"))
