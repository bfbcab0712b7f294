"""From the runs of a record to rows: medians, and ratios to Asio's row of the same round."""

import statistics

import table
from scaling import cells

WEB_BASE = "nginx"
BESIDE = (("cpus_used", "CPUs used"), ("cpu_ns_per_event", "CPU ns"), ("voluntary_switches_per_1000", "vol. switches/1000"),
          ("involuntary_switches_per_1000", "inv. switches/1000"), ("own_wakes_per_1000", "wakes/1000"), ("system_calls_per_1000", "system calls/1000"), ("wake_ups_per_1000", "wake-ups/1000"))
COUNTED = (("system_calls", "system calls"), ("wake_ups", "wake-ups"), ("context_switches", "context switches"), ("instructions", "instructions"))


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
        pairs = [(run[name], base[n][name]) for n, run in self.by_row[row].items() if n in base and name in run and name in base[n]]
        ratios = [mine / other if panel.more_is_better else other / mine for mine, other in pairs if mine > 0 and other > 0]
        return statistics.median(ratios) if ratios else None

    def moved(self, row):
        return sum("machine_moved" in run for run in self.by_row[row].values())


def sorted_rows(rows):
    order = {name: n for n, name in enumerate(cells.CORE_CONTENDERS + cells.KEY_VALUE_CONTENDERS + cells.WEB_CONTENDERS)}
    return sorted(rows, key=lambda row: (row[2], order.get(row[1], len(order)), row[1]))


def lines_of(found, panel):
    """Rows of text; the first is the head."""
    rows = sorted_rows(row for row in found.rows(panel.question) if found.values(row, panel.figure))
    extras = [each for each in BESIDE if any(found.values(row, each[0]) for row in rows)] if panel.more_is_better or panel.question in cells.CORE else []
    lines = [["contender", "workers", panel.heading, "min", "max", f"x {base_of(panel.question)}", "rounds", "moved"] + [heading for _, heading in extras]]
    for row in rows:
        values = found.values(row, panel.figure)
        lines.append([row[1], str(row[2]), table.number(found.median(row, panel.figure)), table.number(min(values)), table.number(max(values)),
                      table.number(found.ratio(row, panel)), str(len(values)), str(found.moved(row) or "")]
                     + [table.number(found.median(row, name)) for name, _ in extras])
    return lines


def counted_lines(counts):
    """What does not depend on the number of CPUs, of one event, command or request; the first row is the head."""
    shown = [each for each in COUNTED if any(each[0] in row for row in counts)]
    lines = [["question", "contender", "workers"] + [heading for _, heading in shown]]
    for row in counts:
        lines.append([row["question"], row["contender"], str(row["workers"])] + [table.number(row.get(name)) for name, _ in shown])
    return lines


def tables(record, form):
    """Text of all that was run; form is table.plain_text or table.markdown."""
    found, parts = results(record["runs"]), []
    for panel in cells.panels():
        lines = lines_of(found, panel)
        if len(lines) > 1:
            parts += [("### " if form is table.markdown else "") + f"{panel.title}: {panel.heading}", form(lines)]
    counted = counted_lines(record.get("counts", []))
    if len(counted) > 1:
        parts += [("### " if form is table.markdown else "") + "Of one event, command or request", form(counted)]
    return "\n\n".join(parts)
