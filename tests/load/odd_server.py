"""A web server that answers as a test wants, rightly or wrongly."""
import socket
import struct
import threading

PATIENCE_S = 60
BODY = bytes(range(256)) * 40  # more than a client reads at once


def response(body=BODY, status="200 OK", fields="", length=None):
    return f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(body) if length is None else length}\r\n\r\n".encode() + body


def chunks(body=BODY):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    middle = len(body) // 2
    return head + b"".join(b"%x\r\n%s\r\n" % (len(each), each) for each in (body[:middle], body[middle:], b""))


class connection:
    """What an answerer is given: who it is, and what it is to do with it."""

    def __init__(self, peer, number):
        self.peer, self.number, self.asked, self.got = peer, number, 0, b""

    def request(self):
        """The next one's head; None if there is none."""
        while b"\r\n\r\n" not in self.got:
            data = self.peer.recv(1 << 16)
            if not data:
                return None
            self.got += data
        head, self.got = self.got.split(b"\r\n\r\n", 1)
        self.asked += 1
        return head.decode()

    def send(self, data):
        self.peer.sendall(data)

    def reset(self):
        self.peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def wait_for_end(self):
        while self.peer.recv(1 << 16):
            pass


class odd_server:
    """Calls answer(connection, head) for each request, until that gives False: then the connection is closed. A thread for each.

    The first connections, `unheard` of them, are closed before anything is asked.
    """

    def __init__(self, answer, unheard=0, host="127.0.0.1"):
        self.answer, self.unheard = answer, unheard
        self.heads, self.connections = [], 0
        self.lock = threading.Lock()
        self.door = socket.create_server((host, 0), backlog=1024, family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.port = self.door.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.door.shutdown(socket.SHUT_RDWR)  # or it would go on until one more has come
        self.door.close()

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.port}{path}"

    def accept(self):
        while True:
            try:
                peer = self.door.accept()[0]
            except OSError:
                return
            peer.settimeout(PATIENCE_S)
            with self.lock:
                self.connections += 1
                number = self.connections
            if number <= self.unheard:
                peer.close()
                continue
            threading.Thread(target=self.serve, args=(connection(peer, number),), daemon=True).start()

    def serve(self, one):
        with one.peer:
            try:
                while head := one.request():
                    with self.lock:
                        self.heads.append(head)
                    if self.answer(one, head) is False:
                        return
            except OSError:
                return  # the client has gone
