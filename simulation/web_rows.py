"""The simulated web servers: rows, and what is said of them in docs/web-benchmarks.md."""
import machines
import rows
import web_costs

QUESTIONS = ("web", "sws", "web_2003")
SIZE = 20_000  # answers
SCHEDULERS = ("default", "default:no-stealing", "per_worker:no-stealing", "per_worker", "color_queues:no-stealing", "color_queues", "shared_queue")
CURVE = {"default": (1, 2, 4, 8, 16), "per_worker:no-stealing": (1, 2, 4, 8, 16), "per_worker": (1, 2, 4, 8, 16), "color_queues:no-stealing": (1, 2, 4, 8, 16),
         "color_queues": (1, 2, 4, 8, 16), "shared_queue": (1, 2, 4)}
CLIENTS = (200, 1000, 2000)
COUNTS = (1, 2, 4, 8, 16)
# Idle workers as the papers have them, who spin: to wake one takes a line's way, and neither a system call nor the kernel's scheduler.
SPINNING = {"futex_wake_ns": 88, "wake_to_run_ns": 88, "futex_refused_ns": 0}

# us of server CPU per request, H2, 200 clients: bench/results/2026-11-24-d711815-h1-h2-h5-some-web.json. The load runs on the same two CPUs there.
MEASURED = {("serial", 1): 7.11, ("default", 1): 6.52, ("shared_queue", 1): 6.85, ("per_worker", 1): 6.67, ("color_queues", 1): 6.59, ("default", 2): 6.81,
            ("shared_queue", 2): 6.79, ("per_worker", 2): 10.4, ("per_worker:no-stealing", 2): 9.94, ("color_queues", 2): 9.74,
            ("color_queues:no-stealing", 2): 10.1}


def row(question, machine, scheduler, workers, clients, size=SIZE, spinning=False):
    given = {"clients": clients, "requests": web_costs.REQUESTS[question], "web_client_ns": web_costs.CLIENT_NS, "web_lines": web_costs.LINES}
    given |= {"spinning": 1} | SPINNING if spinning else {}
    return rows.asked(question, machine, scheduler, workers, size, tuple(given.items()))


def small():
    return [row(question, "mely_8", scheduler, 8, 60, 600) for question in QUESTIONS for scheduler in ("default", "per_worker", "color_queues")]


def everything():
    found = [row("web", "here_2", scheduler, workers, 200) for scheduler, workers in MEASURED]
    found += [row("web", "large_16", scheduler, workers, 1000) for scheduler, each in CURVE.items() for workers in each]
    found += [row("web", "large_16", scheduler, workers, 1000, spinning=True) for scheduler in SCHEDULERS[:-1] if scheduler in CURVE for workers in COUNTS]
    found += [row("web", "large_16", "serial", 1, round(1000 / copies)) for copies in COUNTS] + [row("web", "large_16", "serial", 1, 1000, spinning=True)]
    for clients in CLIENTS:
        found += [row("sws", "mely_8", scheduler, 8, clients, spinning=spinning) for spinning in (False, True) for scheduler in SCHEDULERS[:-1]]
        found += [row("sws", "mely_8", "serial", 1, clients), row("sws", "mely_8", "serial", 1, clients // 8)]
    found += [row("web_2003", "libasync_4", scheduler, workers, 800) for scheduler in ("default", "per_worker") for workers in (1, 2, 4)]
    return found + [row("web_2003", "libasync_4", "serial", 1, 800 // copies) for copies in (1, 2, 4)]


def key_of(each):
    return each["question"], each["machine"], each["scheduler"], each["workers"], each["clients"], each["spinning"]


def rate(found, *key):
    each = found.get(key)
    return each and each["requests_per_s"]


def times(one, other):
    return "" if one is None or other is None else f"x {one / other:.3g}"


def rates_of_copies(found):
    """{N: requests per second}: N times one serial server with its share of the clients."""
    alone = {n: rate(found, "web", "large_16", "serial", 1, round(1000 / n), False) for n in COUNTS}
    return {n: n * each for n, each in alone.items() if each}


def lines_here(found):
    yield "| scheduler | workers | CPU us per request, simulated | measured | error |\n|---|--:|--:|--:|--:|"
    for (scheduler, workers), real in MEASURED.items():
        each = found.get(("web", "here_2", scheduler, workers, 200, False))
        if each:
            yield f"| `{scheduler}` | {workers} | {each['cpu_us']:.3g} | {real} | {rows.error(each['cpu_us'], real)} |"


def shown(value):
    return "" if value is None else f"{value / 1000:.0f}"


def lines_of_curve(found, spins=False):
    """By the number of workers, thousands of requests per second, and by one `serial`."""
    base = rate(found, "web", "large_16", "serial", 1, 1000, spins)
    yield ("| simulated: `web`, 1000 clients, 16 cores, 1000 requests/s" + (", idle workers spin" if spins else "") + " (by serial's) |"
           + "".join(f" {n} worker{'s' if n > 1 else ''} |" for n in COUNTS) + " by its own one | Jain, most workers |")
    yield "|---|" + "--:|" * (len(COUNTS) + 2)
    for scheduler, each in CURVE.items():
        rates = {n: rate(found, "web", "large_16", scheduler, n, 1000, spins) for n in each}
        cells = "".join(f" {shown(rates[n])} ({times(rates[n], base)}) |" if rates.get(n) else " |" for n in COUNTS)
        last = found.get(("web", "large_16", scheduler, max(each), 1000, spins))
        if last:
            yield f"| `{scheduler}` |{cells} {times(rates[max(each)], rates[1])} | {last['jain']:.3f} |"
    if spins:
        return
    copies = rates_of_copies(found)
    yield "| N copies (N times one `serial` with its share of the clients) |" + "".join(
        f" {shown(copies[n])} ({times(copies[n], base)}) |" if n in copies else " |" for n in COUNTS) + " | |"


def lines_of_spinning(found):
    yield from lines_of_curve(found, spins=True)


def lines_of_mely(found):
    yield "| simulated: SWS, 8 cores | " + " | ".join(f"{n} clients" for n in CLIENTS) + " | " + " | ".join(f"{n}, idle workers spin" for n in CLIENTS) + " |"
    yield "|---|" + "--:|" * 6
    of = lambda scheduler, n, spins: rate(found, "sws", "mely_8", scheduler, 8, n, spins)  # noqa: E731
    columns = [(n, spins) for spins in (False, True) for n in CLIENTS]
    for scheduler in SCHEDULERS[:-1]:
        yield f"| `{scheduler}`, 1000 requests/s | " + " | ".join(shown(of(scheduler, *each)) for each in columns) + " |"
    for what, one, other in (("Mely, over libasync-smp without stealing; paper: up to x 1.25", "color_queues", "per_worker:no-stealing"),
                             ("Mely, over libasync-smp with stealing; paper: up to x 1.73", "color_queues", "per_worker"),
                             ("libasync-smp's stealing; paper: down to x 0.67", "per_worker", "per_worker:no-stealing"),
                             ("Mely without stealing, over libasync-smp without; paper: x 0.8 to 0.93", "color_queues:no-stealing", "per_worker:no-stealing"),
                             ("the default, over libasync-smp", "default", "per_worker"), ("the default, over Mely", "default", "color_queues")):
        yield f"| {what} | " + " | ".join(times(of(one, *each), of(other, *each)) for each in columns) + " |"


def lines_of_2003(found):
    base = rate(found, "web_2003", "libasync_4", "serial", 1, 800, False)
    yield "| simulated: the server of 2003, 4 cores, by one `serial` | 1 worker | 2 | 4 |\n|---|--:|--:|--:|"
    for scheduler in ("per_worker", "default"):
        yield f"| `{scheduler}` | " + " | ".join(times(rate(found, "web_2003", "libasync_4", scheduler, n, 800, False), base) for n in (1, 2, 4)) + " |"
    copies = [(n, rate(found, "web_2003", "libasync_4", "serial", 1, 800 // n, False)) for n in (1, 2, 4)]
    yield "| N copies | " + " | ".join(times(n * each if each else None, base) for n, each in copies) + " |"
    yield "| paper, figure 7: libasync-smp by its own one | 1 | x 1.28 | x 1.5 |"


def text(results):
    found = {key_of(each): each for each in results}
    return "\n\n".join("\n".join(lines(found)) for lines in (lines_of_curve, lines_of_spinning, lines_of_mely, lines_of_2003, lines_here))
