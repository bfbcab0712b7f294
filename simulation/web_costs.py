"""What the handlers of the simulated web servers take on this project's core, ns, and where each number is from.

Measured are whole requests and whole connections, in processor time of servers with one worker on the AMD EPYC of constants/measured.json: medians of
bench/results/2026-11-24-d711815-h1-h2-h5-some-web.json and, for H3, ...-h3-h6-web.json. Which system call has which part of the kernel's time:
constants/sockets.json, as shares. Of a server's own time what the profile (docs/web-benchmarks.md, "Where the time goes") counts as queueing and locks
is left out, for that is what is simulated.

Committed before the first simulation of these workloads (aafb7db). One was changed after one (2e423b5): LINES, from 36 to 12, and in the default's favor.
With 36 it had 0.76 of libasync-smp's rate, 1000 clients of SWS on 8 cores; with 12 it has 0.97. Of the 36, 24 had stood for the kernel's lines without
being measured; measured then, a connection that another core has served last cost no more. The shares of constants/sockets.json, which are from the
same program, were measured anew with that: epoll_ctl 8 % longer, the others within 2 %. The rest is as it was.
"""
import json
import pathlib

SHARES = json.loads((pathlib.Path(__file__).resolve().parent / "constants" / "sockets.json").read_text())

# us of a request by floor, which has no scheduler and parses nothing: in the kernel. H5: one connection for each request. H3: ten requests, with
# files of 14 KB in the mean.
KERNEL_H1, KERNEL_H5, KERNEL_H3 = 5.64, 25.57, 12.38
# us of a request in the server itself: tartan-web, web-sws-serial and web-serial, all with one worker.
OWN_H1, OWN_H5 = 0.98, 5.06
SWS_OWN_H1 = 0.70
SERIAL_OWN_H1, SERIAL_OWN_H5, SERIAL_OWN_H3 = 0.63, 3.62, 1.80
# Of that, tartan-web's queueing and locks, one worker: 17.7 % and 1.6 %. Taken for the others, too.
NOT_SCHEDULING = 1 - 0.177 - 0.016
# Edges that a look takes from epoll under load, one worker (readiness_source::most_alone).
EDGES = 32

KERNEL_CONNECTION = KERNEL_H5 - KERNEL_H1


def of_request(us):
    """The kernel's part of one request, dealt out."""
    by = 1000 * us / (SHARES["recv_ns"] + SHARES["send_ns"] + SHARES["epoll_event_ns"] + SHARES["epoll_wait_ns"] / EDGES)
    return {"web_read_ns": by * SHARES["recv_ns"], "web_write_ns": by * SHARES["send_ns"], "web_event_ns": by * SHARES["epoll_event_ns"],
            "web_wait_ns": by * SHARES["epoll_wait_ns"]}


def of_connection(us, own_us):
    """The kernel's part of one connection, dealt out; the server's own is spent where it makes one."""
    by = 1000 * us / (SHARES["accept_ns"] + SHARES["epoll_ctl_ns"] + SHARES["close_ns"])
    return {"web_accept_ns": by * SHARES["accept_ns"] + 1000 * own_us * NOT_SCHEDULING, "web_register_ns": by * SHARES["epoll_ctl_ns"],
            "web_close_ns": by * SHARES["close_ns"]}


def of_sws():
    """Assumed: of what it does itself, two thirds are parsing, the rest looking for the response."""
    own = 1000 * SWS_OWN_H1 * NOT_SCHEDULING
    return {"sws_parse_ns": own * 2 / 3, "sws_check_ns": own / 3}


def of_2003():
    """Its files are H3's, so that all besides the reading of a request is writing. The same thirds."""
    own = 1000 * (SERIAL_OWN_H3 - (SERIAL_OWN_H5 - SERIAL_OWN_H1) / 10) * NOT_SCHEDULING
    longer = 1000 * (KERNEL_H3 - KERNEL_CONNECTION / 10 - KERNEL_H1)
    return {"web_2003_parse_ns": own * 2 / 3, "web_2003_check_ns": own / 3, "web_2003_write_ns": of_request(KERNEL_H1)["web_write_ns"] + longer}


HANDLERS = {name: round(ns, 1) for name, ns in (of_request(KERNEL_H1) | of_connection(KERNEL_CONNECTION, OWN_H5 - OWN_H1) | {
    "web_answer_ns": 1000 * OWN_H1 * NOT_SCHEDULING} | of_sws() | of_2003()).items()}

# Assumed, for neither was measured: what lies between an answer and the next request of that client; and the lines of its own that the server changes for
# each request of a connection (descriptor, frame, what was read). What the kernel keeps for a connection is in the price of a request, whoever serves
# it: the request comes from another core, whose kernel has had the socket for it. Measured (exchange_after_own_ns, exchange_after_other_ns of
# constants/sockets.json), a connection that another core has served last costs no more than one's own. A first version had 24 lines of the kernel's
# besides, without having measured that.
CLIENT_NS = 100_000
LINES = 12
REQUESTS = {"web": 150, "sws": 150, "web_2003": 10}  # on one connection: H2 and Mely's; libasync-smp's
