"""openssl s_client: what a server may not agree to, and what it has to."""
import re
import socket
import struct
import subprocess

import judged
from harness import PATIENCE_S, expect
from judged import PAGE, case

REQUEST = b"GET /page.html HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


def s_client(s, *options, stdin=REQUEST, ignores_end=True):
    """(exit status, stdout, stderr) of it; it ends when the server has closed the connection."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{s.tls_port}", "-servername", judged.HOST, "-CAfile", judged.SCRATCH / "certificate.pem",
               "-verify_return_error", *(["-ign_eof"] if ignores_end else []), *map(str, options)]
    ended = subprocess.run(command, input=stdin, capture_output=True, timeout=2 * PATIENCE_S)
    return ended.returncode, ended.stdout, ended.stderr.decode("utf-8", "replace")


@case("openssl")
def a_page_comes_by_both_versions():
    with judged.judged() as s:
        for version in ("1_2", "1_3"):
            status, out, said = s_client(s, f"-tls{version}", "-alpn", "http/1.1")
            expect(status == 0 and PAGE in out, version, out[-500:], said)
            expect(f"TLSv{version.replace('_', '.')}".encode() in out and b"ALPN protocol: http/1.1" in out and b"Compression: NONE" in out, out[-1500:])
            expect(b"Secure Renegotiation IS supported" in out or version == "1_3", out[-1500:])
            expect(b"Verify return code: 0 (ok)" in out and b"closed\n" in out, out[-500:])


@case("openssl")
def older_versions_are_refused_with_an_alert():
    with judged.judged() as s:
        for version in ("1", "1_1"):
            status, _, said = s_client(s, f"-tls{version}", "-cipher", "ALL:@SECLEVEL=0")
            expect(status != 0 and "SSL alert number 70" in said, version, said)  # protocol_version: the server's word, not this client's
        for minor in (0, 1, 2):  # this openssl speaks no SSLv3: its greeting by hand
            level, what = alert_of(s, hello(minor))
            expect(level == 2 and what in (40, 70), minor, level, what)  # fatal; handshake_failure, protocol_version


def hello(minor):
    """A ClientHello of version 3.minor, with the ciphers that all of them have."""
    body = bytes([3, minor]) + bytes(range(32)) + b"\0" + struct.pack(">H", 4) + b"\x00\x2f\x00\x35" + b"\x01\x00"
    message = b"\x01" + struct.pack(">I", len(body))[1:] + body
    return bytes([22, 3, minor]) + struct.pack(">H", len(message)) + message


def alert_of(s, greeting):
    with socket.create_connection(("127.0.0.1", s.tls_port), timeout=PATIENCE_S) as c:
        c.sendall(greeting)
        got = b""
        while piece := c.recv(100):
            got += piece
    expect(len(got) == 7 and got[0] == 21, "an alert, and the end:", got)
    return got[5], got[6]


@case("openssl")
def weak_ciphers_are_refused():
    with judged.judged() as s:
        for ciphers in ("aNULL", "eNULL", "3DES", "RC4", "EXPORT", "kRSA"):
            status, out, said = s_client(s, "-tls1_2", "-cipher", f"{ciphers}:@SECLEVEL=0")
            refused = "alert" in said or "no cipher match" in said  # the second: this openssl does not know them any more
            expect(status != 0 and refused and PAGE not in out, ciphers, said)


@case("openssl")
def renegotiation_is_refused():
    with judged.judged() as s:
        status, out, said = s_client(s, "-tls1_2", stdin=b"R\n", ignores_end=False)
        expect(b"RENEGOTIATING" in out + said.encode(), "it was asked for", out[-500:], said)
        expect("no renegotiation" in said or "alert" in said or "unexpected" in said, status, out[-500:], said)


@case("openssl")
def sessions_are_resumed():
    with judged.judged() as s:
        status, out, said = s_client(s, "-tls1_2", "-reconnect", stdin=b"Q\n", ignores_end=False)
        expect(status == 0 and out.count(b"Reused, TLSv1.2") == 5, out.count(b"Reused"), said)
        ticket = judged.SCRATCH / "ticket"
        status, out, said = s_client(s, "-tls1_3", "-sess_out", ticket)
        expect(status == 0 and PAGE in out and ticket.stat().st_size > 0, said)
        status, out, said = s_client(s, "-tls1_3", "-sess_in", ticket)
        expect(status == 0 and PAGE in out and b"Reused, TLSv1.3" in out, out[-1500:], said)
        early = judged.SCRATCH / "early"
        early.write_bytes(REQUEST)
        out = s_client(s, "-tls1_3", "-sess_in", ticket, "-early_data", early)[1]
        expect(b"Early data was accepted" not in out, "early data may be sent again by anybody")


@case("openssl")
def another_protocol_is_not_agreed_to():
    with judged.judged() as s:
        status, _, said = s_client(s, "-alpn", "h2")
        expect(status != 0 and "SSL alert number 120" in said, said)  # no_application_protocol
        status, out, said = s_client(s, "-alpn", "h2,http/1.1")
        expect(status == 0 and b"ALPN protocol: http/1.1" in out and PAGE in out, said)


@case("openssl")
def small_records_and_other_habits_are_understood():
    with judged.judged() as s:
        for options in (("-max_send_frag", "512", "-split_send_frag", "512"), ("-maxfraglen", "512"), ("-groups", "P-256"), ("-no_ticket",)):
            status, out, said = s_client(s, *options)
            expect(status == 0 and PAGE in re.sub(b"read R BLOCK\n", b"", out), options, out[-300:], said)
