"""H1 to H6: what the clients ask for, and how often on a connection."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class point:
    """One number of clients, and what they ask for."""
    clients: int
    files: str  # "page": one of 1 KB; "mix": 720 as of SPECweb99, 100 MB; "flat": 700 of 4 KB
    everybody: bool = True  # else only those that a curve is drawn of

    def name(self, of):
        """As it stands in a record."""
        return f"{self.files}/{self.clients}" if len({each.files for each in of.points}) > 1 else str(self.clients)


@dataclasses.dataclass(frozen=True)
class workload:
    key: str
    title: str
    points: tuple
    requests_per_connection: int  # 0: the connection is kept
    warm_up: float = 0.25  # of what is measured

    @property
    def closing(self):
        return self.requests_per_connection == 1


LEAST_WARM_UP_S = 0.2
CLIENTS_OF_A_SECOND = 2000
MELY_CLIENTS = (200, 500, 1000, 1500, 2000)
CONNECTIONS = (64, 256, 1024, 4096, 10000)

# What a browser sends for an image of a page, but for Host and conditions: the others' requests have one line.
BROWSER = (
    'sec-ch-ua: "Chromium";v="124", "Not-A.Brand";v="99"',
    "sec-ch-ua-mobile: ?0",
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36",
    'sec-ch-ua-platform: "Linux"',
    "Accept: image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8",
    "Sec-Fetch-Site: same-origin",
    "Sec-Fetch-Mode: no-cors",
    "Sec-Fetch-Dest: image",
    "Referer: https://www.example.org/products/overview/index.html",
    "Accept-Encoding: gzip, deflate, br, zstd",
    "Accept-Language: en-US,en;q=0.9,de;q=0.8",
    "Cookie: session=8f14e45fceea167a5a36dedd4bea2543; theme=dark; consent=yes",
)

WORKLOADS = [
    workload("h1", "H1: one file of 1 KB, kept-alive connections", (point(200, "page"),), 0),
    workload("h2", "H2: one file of 1 KB, 150 requests per connection", tuple(point(n, "page", n == 200) for n in MELY_CLIENTS), 150),
    # From a cold start of the server. The long warm-up of libasync-smp's evaluation, by what is measured: each run starts a server of its own.
    workload("h3", "H3: a mix as of SPECweb99, 720 files, 100 MB, 10 requests per connection", (point(800, "mix"),), 10, warm_up=1.5),
    workload("h4", "H4: many connections, kept", tuple(point(n, files, False) for files in ("mix", "page") for n in CONNECTIONS), 0, warm_up=0.5),
    workload("h5", "H5: one file of 1 KB, one request per connection", (point(200, "page"),), 1),
    workload("h6", "H6: 700 files of 4 KB, 5 requests per connection", (point(800, "flat"),), 5),
]
BY_KEY = {each.key: each for each in WORKLOADS}
PAGE_BYTES = 1024
# tartan-load make-set ...
SETS = {"mix": ("--files", "720", "--bytes", "100000000", "--seed", "1", "--shape", "specweb99"),
        "flat": ("--files", "700", "--shape", "flat", "--file-bytes", "4096", "--seed", "1")}


def measured_s(at, seconds):
    """Longer with many clients: each is to have several answers, or who has one less than others would look starved."""
    return seconds * max(1, at.clients / CLIENTS_OF_A_SECOND)


def warm_up_s(of, at, seconds):
    """Before each measurement, not counted."""
    return max(LEAST_WARM_UP_S, of.warm_up * measured_s(at, seconds))
