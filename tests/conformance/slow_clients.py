"""slowhttptest: while its slow clients stand, its own probe, a fresh connection each time, has to be served."""
import csv
import re
import subprocess

import judged
from harness import PATIENCE_S, expect, wait_until
from judged import case, need

CLIENTS = 400
READERS = 200  # the system keeps up to 4 MB for each
LIMITS = ("--header-timeout", "3", "--idle-timeout", "3", "--write-timeout", "3", "--max-connections", "1000")
SECONDS = 20  # at most; the probe's limit is the tool's own: 5 s


class slow:
    """A run of it. What it saw in each second is in its table: how many connections were open, and whether the probe was served."""

    def __init__(self, *options, number=CLIENTS):
        self.number = number
        need("slowhttptest")
        self.prefix = judged.SCRATCH / "slow"
        command = ["slowhttptest", "-c", number, "-r", number, "-l", SECONDS, "-i", "1", "-v", "1", "-g", "-o", self.prefix, *options]
        self.process = subprocess.Popen([str(each) for each in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()

    def verdict(self, all_at_once=True):
        """Waits for its end."""
        self.said = self.process.communicate(timeout=SECONDS + PATIENCE_S)[0]
        with open(f"{self.prefix}.csv", encoding="ascii") as table:
            # Second, closed, pending, connected, and 0 if the probe was not served.
            rows = [list(map(int, row)) for row in list(csv.reader(table))[1:] if row]
        expect(len(rows) >= 2 and all(row[4] > 0 for row in rows), "the probe was not served in time:", rows, self.said[-500:])
        expect("service available:   YES" in re.sub(r"\x1b\[[0-9;]*[A-Za-z]", "", self.said), self.said[-2000:])
        if all_at_once:
            expect(max(row[3] for row in rows) > self.number // 2, "hardly any were connected at once", rows)

    def were_cut_off(self):
        expect("No open connections left" in self.said, "slow clients were let stay:", self.said[-2000:])


@case("slowhttptest")
def slow_heads_are_cut_off_and_others_served():
    with judged.judged(*LIMITS) as s, slow("-H", "-u", f"{s.http}/page.html") as clients:
        clients.verdict()
        clients.were_cut_off()


@case("slowhttptest")
def slow_heads_over_tls_are_cut_off_and_others_served():
    with judged.judged(*LIMITS) as s, slow("-H", "-u", f"{s.https}/page.html") as clients:
        clients.verdict()
        clients.were_cut_off()


@case("slowhttptest")
def slow_bodies_are_refused_and_others_served():
    with judged.judged(*LIMITS) as s, slow("-B", "-s", "8192", "-u", f"{s.http}/page.html") as clients:
        clients.verdict(all_at_once=False)  # each goes when it is answered, and that is at once
        clients.were_cut_off()


@case("slowhttptest")
def slow_readers_are_cut_off_and_others_served():
    how = ("-X", "-w", "512", "-y", "1024", "-n", "1", "-z", "32", "-k", "3")
    with judged.judged(*LIMITS) as s, slow(*how, "-u", f"{s.http}/large.bin", number=READERS) as clients:
        wait_until(lambda: s.descriptors() > s.base + READERS // 2, "slow readers")
        # They do not see it, for what the system still holds for them comes before the end. So the server is looked at, while they stand.
        wait_until(lambda: s.descriptors() <= s.base + 1, "the slow readers' connections to be closed")  # one: the probe's
        expect(clients.process.poll() is None, "slow readers were cut off only when they went")
        clients.verdict()


@case("slowhttptest")
def many_ranges_harm_nobody():
    with judged.judged(*LIMITS) as s, slow("-R", "-t", "GET", "-a", "10", "-b", "3000", "-u", f"{s.http}/large.bin") as clients:
        clients.verdict(all_at_once=False)
        clients.were_cut_off()
