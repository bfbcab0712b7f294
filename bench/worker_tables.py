"""The tables of bench/workers: medians with their range, and ratios of runs of the same round."""

import statistics

import figures
import table
import worker_cells

REQUEST = (
    ("cpu_us", "CPU us"),
    ("system_calls", "system calls"),
    ("voluntary_switches", "voluntary switches"),
    ("sleeps", "sleeps"),
    ("wake_ups", "wake-ups"),
    ("p50_us", "p50 us"),
    ("p99_us", "p99 us"),
    ("requests_per_s", "per s"),
)
COLOR = (("ns_per_color", "ns a color"), ("cpu_us", "CPU us"), ("sleeps", "sleeps"))
TITLES = {
    "h1": "H1, the web server, {point}: of one request, 64 clients",
    "w14": "W14, the key-value server, {point}: of one command, 50 clients",
    "w7": "W7, short-lived colors, {point}: of one color",
}


def spread(values):
    """Median [min, max]; only the value of a single run."""
    if not values:
        return ""
    middle = table.number(statistics.median(values))
    if len(values) == 1:
        return middle
    return f"{middle} [{table.number(min(values))}, {table.number(max(values))}]"


def rows_of(record, question, point):
    """By number of workers, in the order in which the contenders were named."""
    found = figures.results(record["runs"])
    return found, found.rows(question, point, record["contenders"])


def lines_of(record, question, point):
    """Rows of text; the first is the head. Empty if nothing was run."""
    found, rows = rows_of(record, question, point)
    if not rows:
        return []
    names = [name for name in record["contenders"] if any(row[2] == name for row in rows)]
    wanted, compared, heading = (COLOR, "ns_per_color", "time") if question == "w7" else (REQUEST, "cpu_us", "CPU")
    shown = [each for each in wanted if any(found.values(row, each[0]) for row in rows)]
    least = min(row[3] for row in rows)
    head = ["contender", "workers", *(title for _, title in shown), f"{heading} by {least}'s"]
    lines = [head + [f"{heading} by {names[0]}'s"] * (len(names) > 1)]
    for row in rows:
        line = [row[2], str(row[3]), *(spread(found.values(row, name)) for name, _ in shown)]
        line.append(spread(found.ratios(row, (*row[:3], least), compared)) if row[3] != least else "")
        if len(names) > 1:
            line.append(spread(found.ratios(row, (*row[:2], names[0], row[3]), compared)) if row[2] != names[0] else "")
        lines.append(line)
    return lines


def tables(record, form):
    """Text of all that was run; form is table.plain_text or table.markdown."""
    parts = []
    for question, points in worker_cells.POINTS.items():
        for point in points:
            lines = lines_of(record, question, point)
            if lines:
                title = TITLES[question].format(point=point)
                parts += [("### " if form is table.markdown else "") + title, form(lines)]
    return "\n\n".join(parts)
