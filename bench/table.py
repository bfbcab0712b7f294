"""From runs to rows: medians, ratios to the bases, and where Tartan loses."""

import statistics

import plan

LOST = 0.98  # times as good as a rival: from here on it is no loss
NEAR_TIE = 0.95  # from here on it is one that is only counted


def number(value):
    if value is None:
        return ""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    return f"{value:.3g}"


class results:
    """All runs of one hold of the machine; a row is (question, contender, workers)."""

    def __init__(self, runs):
        self.by_row = {}
        for run in runs:
            self.by_row.setdefault((run["question"], run["contender"], run["workers"]), {})[run["round"]] = run

    def rows(self, question):
        found = [key for key in self.by_row if key[0] == question.key and question.asks(key[1], key[2])]
        order = list(question.order or plan.ORDER)
        return sorted(found, key=lambda key: (order.index(key[1].split("+")[0]) if key[1].split("+")[0] in order else len(order), key[1], key[2]))

    def values(self, row, figure):
        return [run[figure] for run in self.by_row.get(row, {}).values() if figure in run]

    def median(self, row, figure):
        values = self.values(row, figure)
        return statistics.median(values) if values else None

    def moved(self, row):
        """In how many of its runs the machine was not quiet: bench/quiet.py."""
        return sum("machine_moved" in run for run in self.by_row.get(row, {}).values())

    def ratios(self, row, base, figure, more_is_better):
        """How many times as good as the base, by round."""
        pairs = [(run[figure], self.by_row[base][n][figure]) for n, run in self.by_row[row].items()
                 if base in self.by_row and n in self.by_row[base] and figure in run and figure in self.by_row[base][n]]
        return [mine / other if more_is_better else other / mine for mine, other in pairs if mine > 0 and other > 0]

    def ratio(self, row, base, figure, more_is_better):
        """The median of these."""
        ratios = self.ratios(row, base, figure, more_is_better)
        return statistics.median(ratios) if ratios else None


def cpus_used(found, row):
    """Processor time by wall time: well below the number of workers, and somebody else had the machine, or the workers slept."""
    measured = found.median(row, "cpus_used")  # where only a part of the run is
    if measured is not None:
        return measured
    used = [(run["user_s"] + run["system_s"]) / run["wall_s"] for run in found.by_row[row].values() if run.get("wall_s")]
    return statistics.median(used) if used else None


def lines_of(found, question, index):
    """Rows of text for one figure of one question; the first is the head."""
    figure, heading, more_is_better, *other = question.figures[index]
    compared = other[0] if other else figure
    extras = [extra for extra in question.extras if index == len(question.figures) - 1 and any(found.values(row, extra[0]) for row in found.rows(question))]
    head = ["contender", "workers", heading, "min", "max", question.base[1], question.floor[1], "inv. switches", "CPUs used",
            question.sizes.replace("_", " ")]
    marks = any(found.moved(row) for row in found.rows(question))
    lines = [head + [title for _, title in extras] + ["moved"] * marks]
    for row in found.rows(question):
        values = found.values(row, figure)
        if not values:
            continue
        base = found.ratio(row, (row[0], question.base[0], row[2]), compared, more_is_better)
        floor = found.ratio(row, (row[0], question.floor[0], 1), compared, more_is_better)
        lines.append([row[1], str(row[2]), number(found.median(row, figure)), number(min(values)), number(max(values)), number(base), number(floor),
                      number(found.median(row, "involuntary_switches")), number(cpus_used(found, row)), number(found.median(row, question.sizes))]
                     + [number(found.median(row, name)) for name, _ in extras] + [str(found.moved(row) or "")] * marks)
    return lines


def said_of(row, heading, times, other):
    workers = f"{row[2]} worker{'s' if row[2] > 1 else ''}"
    return f"{row[0].upper()}, {row[1]}, {workers}: {heading} {number(times)} times as good as {other}."


def losses(found):
    """(row, heading, times, rival) wherever a rival is better than Tartan, by more than 2 %, with the same number of workers; a floor is no
    rival, the papers' schedulers are."""
    lost = []
    for question in plan.QUESTIONS:
        rivals = [row for row in found.rows(question) if (not row[1].startswith("tartan_") or "@" in row[1]) and row[1] not in (question.floor[0], plan.IDEAL)]
        for figure, heading, more_is_better, *other in question.figures:
            for row in found.rows(question):
                for rival in rivals if row[1].startswith("tartan_") and not set("+@") & set(row[1]) else ():
                    times = found.ratio(row, rival, other[0] if other else figure, more_is_better) if rival[2] == row[2] else None
                    if times is not None and times < LOST:
                        lost.append((row, heading, times, rival[1]))
    return lost


def lines_of_losses(found):
    """Rows of text; the first is the head. By question, in each the worst first; all rivals of a row and figure in one cell. Without near ties."""
    lost = [each for each in losses(found) if each[2] < NEAR_TIE]
    lines = []
    for key in dict.fromkeys(row[0] for row, *_ in lost):
        cells = {}
        for row, heading, times, rival in lost:
            if row[0] == key:
                cells.setdefault((heading, row), []).append((times, rival))
        for (heading, row), rivals in sorted(cells.items(), key=lambda each: min(each[1])):
            names = [f"{number(times)} {'@' + rival.split('@')[1] if '@' in rival else rival}" for times, rival in sorted(rivals)]
            lines.append([key.upper(), heading, row[1], str(row[2]), ", ".join(names)])
    return [["question", "figure", "ours", "workers", "times as good as"]] + lines


def near_ties(found):
    """A sentence; empty if there are none."""
    counts = {}
    for row, _, times, _ in losses(found):
        counts[row[0]] = counts.get(row[0], 0) + (times >= NEAR_TIE)
    said = ", ".join(f"{key.upper()} {count}" for key, count in counts.items() if count)
    return f"Near ties, {NEAR_TIE} to {LOST} times as good: {said}." if said else ""


def aims(found):
    """Sentences: how near Tartan comes to the floor where that is an aim."""
    said = []
    for question in plan.QUESTIONS:
        figure, heading, more_is_better, *other = question.figures[0]
        for row in found.rows(question) if question.aim else ():
            times = found.ratio(row, (row[0], question.floor[0], 1), other[0] if other else figure, more_is_better)
            if times is not None and row[2] == 1 and row[1].startswith("tartan_"):
                verdict = "met" if times >= question.aim else "NOT met"
                said.append(f"{row[0].upper()}, {row[1]}, 1 worker: {heading} {number(1 / times)} of {question.floor[0]}'s; "
                            f"the aim, {number(1 / question.aim)}, is {verdict}.")
    return said


def stealing(found):
    """Sentences: what stealing brings, by round, where it was also switched off."""
    said = []
    for question in plan.QUESTIONS:
        figure, heading, more_is_better, *other = question.figures[0]
        for row in found.rows(question):
            off = (row[0], row[1] + "+no_steal", row[2])
            times = found.ratio(row, off, other[0] if other else figure, more_is_better) if off in found.by_row and row[2] > 1 else None
            if times is not None:
                said.append(said_of(row, heading, times, "without stealing"))
    return said


def plain_text(lines):
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths)))
                     for line in lines)


def markdown(lines, words=(0,)):
    """`words`: the columns that begin at the left."""
    text = ["| " + " | ".join(line) + " |" for line in lines]
    text.insert(1, "".join("|---" if n in words else "|--:" for n in range(len(lines[0]))) + "|")
    return "\n".join(text)


def tables(found, form, pictures=()):
    """Text of all questions that were run; form is plain_text or markdown. `pictures`: paths by question, shown behind the titles."""
    parts = []
    for question in plan.QUESTIONS:
        if not found.rows(question):
            continue
        parts.append(("### " if form is markdown else "") + question.title)
        parts += [f"![{question.title}]({pictures[question.key]})"] if question.key in pictures else []
        parts += [form(lines_of(found, question, index)) for index in range(len(question.figures))]
    return "\n\n".join(parts)
