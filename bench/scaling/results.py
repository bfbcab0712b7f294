"""From the runs of a record to rows: medians, and ratios to Asio's row of the same round."""

import statistics

import table
from scaling import cells

WEB_BASE = "nginx"
BESIDE = (
    ("cpus_used", "CPUs used"),
    ("cpu_ns_per_event", "CPU ns"),
    ("voluntary_switches_per_1000", "vol. switches/1000"),
    ("involuntary_switches_per_1000", "inv. switches/1000"),
    ("own_wakes_per_1000", "wakes/1000"),
    ("system_calls_per_1000", "system calls/1000"),
    ("wake_ups_per_1000", "wake-ups/1000"),
)
COUNTED = (
    ("system_calls", "system calls"),
    ("wake_ups", "wake-ups"),
    ("context_switches", "context switches"),
    ("instructions", "instructions"),
)


def base_of(question):
    return WEB_BASE if question in cells.REQUESTS_PER_CONNECTION else cells.question_of(question).base[0]


class results:
    def __init__(self, runs):
        self.by_row = {}
        for run in runs:
            self.by_row.setdefault((run["question"], run["contender"], run["workers"]), {})[run["round"]] = run

    def all_rows(self):
        return list(self.by_row)

    def rows(self, question):
        return [row for row in self.by_row if row[0] == question]

    def values(self, row, figure):
        return [run[figure] for run in self.by_row.get(row, {}).values() if figure in run]

    def median(self, row, figure):
        values = self.values(row, figure)
        return statistics.median(values) if values else None

    def ratio(self, row, panel):
        """How many times as good as the base with as many workers, by round: the median."""
        base = self.by_row.get((row[0], base_of(row[0]), row[2]), {})
        name = panel.figure
        pairs = [
            (run[name], base[n][name])
            for n, run in self.by_row[row].items()
            if n in base and name in run and name in base[n]
        ]
        ratios = [
            mine / other if panel.more_is_better else other / mine for mine, other in pairs if mine > 0 and other > 0
        ]
        return statistics.median(ratios) if ratios else None

    def moved(self, row):
        return sum("machine_moved" in run for run in self.by_row[row].values())


PLACES = {name: n for n, name in enumerate(cells.CORE_CONTENDERS + cells.KEY_VALUE_CONTENDERS + cells.WEB_CONTENDERS)}


def place_of(row):
    """By contender, in the order of cells.py, then by workers."""
    return PLACES.get(row[1], len(PLACES)), row[1], row[2]


def sorted_rows(rows):
    return sorted(rows, key=lambda row: (row[2],) + place_of(row))


def lines_of(found, panel):
    """Rows of text; the first is the head."""
    rows = sorted_rows(row for row in found.rows(panel.question) if found.values(row, panel.figure))
    extras = (
        [each for each in BESIDE if any(found.values(row, each[0]) for row in rows)]
        if panel.more_is_better or panel.question in cells.CORE
        else []
    )
    lines = [
        ["contender", "workers", panel.heading, "min", "max", f"x {base_of(panel.question)}", "rounds", "moved"]
        + [heading for _, heading in extras]
    ]
    for row in rows:
        values = found.values(row, panel.figure)
        lines.append(
            [
                row[1],
                str(row[2]),
                table.number(found.median(row, panel.figure)),
                table.number(min(values)),
                table.number(max(values)),
                table.number(found.ratio(row, panel)),
                str(len(values)),
                str(found.moved(row) or ""),
            ]
            + [table.number(found.median(row, name)) for name, _ in extras]
        )
    return lines


def by_workers(values, workers):
    """Rows of text from {(question, figure, contender): {workers: value}}: a head, then a column for each number."""
    lines = [["question", "figure", "contender"] + [str(n) for n in workers]]
    for names, of in values.items():
        lines.append(list(names) + [table.number(of.get(n)) for n in workers])
    return lines


def medians_by_workers(record):
    """The whole record in one table."""
    found, values = results(record["runs"]), {}
    for panel in cells.panels():
        for row in sorted(found.rows(panel.question), key=place_of):
            median = found.median(row, panel.figure)
            if median is not None:
                values.setdefault((panel.question.upper(), panel.heading, row[1]), {})[row[2]] = median
    return by_workers(values, record["workers"])


def counts_of(record):
    """Rows of what was counted; W14's programs count beside each run."""
    found, own = results(record["runs"]), []
    for row in found.all_rows():
        medians = {name: found.median(row, f"{name}_per_1000") for name in ("system_calls", "wake_ups")}
        if row[0] in cells.KEY_VALUE and None not in medians.values():
            switches = sum(found.median(row, f"{kind}_switches_per_1000") for kind in ("voluntary", "involuntary"))
            own.append(
                {
                    "question": row[0],
                    "contender": row[1],
                    "workers": row[2],
                    "context_switches": switches / 1e3,
                    **{name: value / 1e3 for name, value in medians.items()},
                }
            )
    return record.get("counts", []) + own


def counts_by_workers(record):
    """Of one event, command or request. Only the head if nothing was counted."""
    order, values = {
        key: n for n, key in enumerate(cells.CORE + cells.KEY_VALUE + tuple(cells.REQUESTS_PER_CONNECTION))
    }, {}
    counted = sorted(counts_of(record), key=lambda row: (order[row["question"]], PLACES.get(row["contender"], 0)))
    for name, heading in COUNTED:
        for row in counted:
            if name in row:
                values.setdefault((row["question"].upper(), heading, row["contender"]), {})[row["workers"]] = row[name]
    return by_workers(dict(sorted(values.items(), key=lambda each: order[each[0][0].lower()])), record["workers"])


def tables(record):
    """Plain text of all that was run: a table for each figure, and one of what was counted."""
    found, parts = results(record["runs"]), []
    for panel in cells.panels():
        lines = lines_of(found, panel)
        if len(lines) > 1:
            parts += [f"{panel.title}: {panel.heading}", table.plain_text(lines)]
    counted = counts_by_workers(record)
    if len(counted) > 1:
        parts += ["Of one event, command or request, by workers", table.plain_text(counted)]
    return "\n\n".join(parts)
