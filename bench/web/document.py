"""The tables of a record, as text and as docs/web-benchmarks.md."""

import pathlib

import contenders
import figures
import passage
import pictures
import table
import web_goals
import workloads

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "web-benchmarks.md"
MARKS = ("<!-- web: begin (written by bench/web/run --docs) -->", "<!-- web: end -->")
PER_CONNECTION = "KB per connection"
HEAD = ["contender", "workers", "CPU us per request", "min", "max", "by the floor's", "req/s", "CPU cost, inverted: req/s of server CPU",
        "p50 us", "p99 us", "p99.9 us", "CPU use",
        "errors", "starved", "Jain", PER_CONNECTION, "inv. switches"]


def headings(record):
    """(name of the file or None, text) of each run that is in it."""
    if "parts" not in record:
        return [(None, heading_of(record))]
    return [(name, f"{', '.join(what)}: {heading_of(part)}") for name, part, _, what in record["parts"]]


def foot_of(record):
    """A workload's key -> the circumstances of what was measured of it."""
    return lambda key: " ".join(heading_of(part) for _, part, of, _ in record.get("parts", [(None, record, [key], [])]) if key in of)


def heading(record):
    return "\n\n".join(text for _, text in headings(record))


def heading_of(record):
    at = record["circumstances"]
    others = f"; {', '.join(f'{name} {version}' for name, version in record['versions'].items())}" if record.get("versions") else ""
    busy = f", CPUs busy to {at['busy_before']:.0%}" if "busy_before" in at else ""
    cut = "; INTERRUPTED, not all was run" if record.get("interrupted") else ""
    only = [f"only {', '.join(map(str, record[name]))}{what}" for name, what in (("contenders", ""), ("workers", " workers"), ("clients", " clients"))
            if record.get(name)]
    some = "".join(f"; {each}" for each in only)
    return (f"Commit {at['commit']}{' with changes' if at['changed'] else ''}, {at['date']}; {at['cpu']}, {at['cores']} cores, Linux {at['kernel']}, "
            f"load {at['load_before']:.1f}{busy} at the start; {at['compiler']}, {at['flags']}{others}; "
            f"{record['rounds']} rounds of {record['seconds']:g} s{some}{cut}.")


def lines_of(found, of, at):
    """Rows of text of one point; the first is the head. Memory per connection only where a cache cannot fill meanwhile: with one small file."""
    workload, point, lines = of.key, at.name(of), [HEAD]
    hidden = HEAD.index(PER_CONNECTION) if at.files != "page" else len(HEAD)
    for row in found.rows(workload, point, contenders.ORDER):
        costs = found.values(row, "cpu_us")
        floor = found.ratio(row, (workload, point, contenders.FLOOR, row[3]), "cpu_us")
        jain = found.median(row, "jain")
        cells = [found.median(row, "cpu_us"), min(costs), max(costs), floor, found.median(row, "requests_per_s"), found.inverted_cost(row)]
        cells += [found.median(row, name) for name in ("p50_us", "p99_us", "p999_us")] + [found.cpu_use(row)]
        # Of all runs the most: a median would hide one that starved.
        cells += [max(found.values(row, name)) for name in ("errors", "starved")]
        last = [found.median(row, name) for name in ("kb_per_connection", "involuntary_switches")]
        lines.append([row[2], str(row[3]), *map(table.number, cells), f"{jain:.4f}", *map(table.number, last)])
    return [line[:hidden] + line[hidden + 1:] for line in lines]


def tables(found, form):
    """Text of all points that were run; form is table.plain_text or table.markdown."""
    parts = []
    for of in workloads.WORKLOADS:
        for at in of.points:
            lines = lines_of(found, of, at)
            if len(lines) > 1:
                files = {"page": "one file of 1 KB", "mix": "the files of H3", "flat": "700 files"}[at.files]
                parts.append(("### " if form is table.markdown else "") + of.title + (f": {at.clients} clients, {files}" if len(of.points) > 1
                                                                                      else f", {at.clients} clients"))
                parts.append(form(lines))
    return "\n\n".join(parts)


def remarks(record):
    """Lines on what is in no table; of a record of several, each with what it is of."""
    if "parts" not in record:
        return remarks_of(record, {run["workload"] for run in record["runs"]}) + failures_of(record)
    told = [f"{', '.join(what)}: {text}" for _, part, of, what in record["parts"] for text in remarks_of(part, of)]
    return told + record["replaced"] + failures_of(record)


def failures_of(record):
    return [f"FAILED: {line}." for line in record["failed"]]


def remarks_of(record, of):
    """On these workloads of one run."""
    warm = ", ".join(f"{key.upper()} {seconds:g} s" for key, seconds in record["warm_up_s"].items() if key in of)
    limited = [bool(run.get("saturated")) for run in record["runs"] if run["workload"] in of]
    lines = [f"Warm-up before each measurement: {warm}. Above {workloads.CLIENTS_OF_A_SECOND} clients both take longer, by as many as there are more."]
    if "h3" in of:
        lines.append("H3's server starts with empty caches of its own; the kernel's hold the files.")
    if any(limited):
        lines.append(f"In {sum(limited)} of {len(limited)} runs the injector was at its limit: they say what a request costs, not what a server can do, and "
                     "their delays are the injector's as well.")
    return lines + [f"{line}." for line in record.get("left_out", ())]


def results_of(record):
    return figures.results(record["runs"], record.get("failed_rows", ()))


def plain(record):
    found = results_of(record)
    reached = web_goals.lines_of(found)
    goals = [table.plain_text(reached), table.plain_text(web_goals.overview(found))] if len(reached) > 1 else []
    return "\n\n".join([heading(record), tables(found, table.plain_text), *goals,
                        "\n".join(remarks(record))])


GOALS = """Set before there was a line of code. "X, by Y's" is X divided by Y's. Each ratio is taken within a round; shown is the median of the rounds, with the
least and the greatest in brackets. A goal counts as reached, or open, by the median; "not in each round" says that some rounds say otherwise.
What was asked of throughput is compared by CPU cost, inverted: requests per second of server CPU, in which neither idle workers nor those that
wait for one another can be seen. `mix` is the files of H3, `page` the one of 1 KB."""


OF_SEVERAL = """Not all was run at once. Each point is of one run, named here; figures of different runs are not to be compared. What was asked of several
points together (H4) pairs their rounds by number, also where they are of different runs."""


def write(record, name, page):
    """The page's passage and its pictures. `name`: of the record's file, if it is of one run."""
    found = results_of(record)
    reached = web_goals.lines_of(found)
    drawn = pictures.write(found, foot_of(record), page.parent / "plots")
    parts = [OF_SEVERAL] * ("parts" in record)
    parts += [f"{text} All runs are in `bench/results/{of or name}`." for of, text in headings(record)]
    if len(reached) > 1:
        parts += ["### What was to be reached", GOALS, web_goals.summary(reached, found), table.markdown(web_goals.overview(found)),
                  table.markdown(reached, words=(0, 1, 3, 5))]
    parts += ["### The papers' figures, of today", *(f"![{title}]({path.relative_to(page.parent).as_posix()})" for title, path in drawn)] if drawn else []
    parts += [tables(found, table.markdown), "### Beside the runs", "\n".join(f"- {line}" for line in remarks(record))]
    passage.replace(page, *MARKS, "\n\n".join(parts))
