"""What is said beside the simulated rows: how far off they are, which pairs have another order, and what becomes of the papers' gains."""
import statistics

import machines
import papers
import plan
import rows
import table

CLEAR = 1.05  # rows that differ less have no order
WORKERS = 2  # of here_2
GROUPS = (("the default", lambda name: name.startswith("default")), ("`serial`", lambda name: name == "serial"),
          ("`shared_queue`", lambda name: name.startswith("shared_queue")), ("`per_worker`, `color_queues`, no stealing", lambda name: "no-stealing" in name),
          ("the same, stealing", lambda name: True))


def times(question, one, other):
    """How many times as good, by two figures."""
    return other / one if question == "w1" else one / other


def figure_of(found, machine, question, scheduler, workers):
    """None if it was not simulated."""
    row = found.get((machine, question, scheduler, workers))
    return row and row[rows.FIGURE[question]]


def pairs_of_figures(found, real, question):
    """{(scheduler, workers): (simulated, measured)}, of two cores, where there are both."""
    both = {}
    for asked in rows.here():
        key = (asked.scheduler, asked.workers)
        simulated = figure_of(found, "here_2", question, *key)
        if asked.question == question and simulated is not None and (question, *key) in real:
            both[key] = (simulated, real[(question, *key)])
    return both


def span(errors):
    if not errors:
        return ""
    ends = dict.fromkeys(f"{100 * error:+.0f}" for error in (min(errors), max(errors)))
    return f"{' to '.join(ends)} %"


def spread_of_loop(record, question):
    """By how much the loop that has no scheduler differs from its own median, in the same run."""
    values = [run[rows.FIGURE[question]] for run in record["runs"] if (run["question"], run["contender"]) == (question, plan.FLOOR)]
    return span([value / statistics.median(values) - 1 for value in values])


def lines_of_spans(found, record, real):
    heads = [title for title, _ in GROUPS]
    yield f"\n| error | {' | '.join(heads)} | the plain loop, measured, by its own median |\n|---|{'---|' * (len(heads) + 1)}"
    for question in rows.QUESTIONS:
        errors = {title: [] for title in heads}
        for (scheduler, _), (simulated, measured) in pairs_of_figures(found, real, question).items():
            errors[next(title for title, has in GROUPS if has(scheduler))].append(simulated / measured - 1)
        if any(errors.values()):
            yield f"| {rows.TITLE[question]} | {' | '.join(span(each) for each in errors.values())} | {spread_of_loop(record, question)} |"


def said(scheduler, workers):
    return f"`{scheduler}`" + (", 1 worker" if workers == 1 and scheduler != "serial" else "")


def orders_of(both, question):
    """(how many pairs have an order, simulated and measured; {who is ahead as measured, and not so simulated: of whom}). Pairs are of rows with
    as many workers, and of serial and any other."""
    ordered, otherwise = 0, {}
    for one, (simulated, measured) in both.items():
        for other, (others_simulated, others_measured) in both.items():
            here, there = times(question, measured, others_measured), times(question, simulated, others_simulated)
            comparable = one[1] == other[1] or "serial" in (one[0], other[0])
            if comparable and here > CLEAR and not 1 / CLEAR <= there <= CLEAR:
                ordered += 1
                if there < 1:
                    otherwise.setdefault(said(*one), []).append(said(*other))
    return ordered, otherwise


def lines_of_orders(found, real):
    yield "\n| who is faster | pairs | otherwise | measured ahead, and not so simulated |\n|---|---|---|---|"
    for question in rows.QUESTIONS:
        ordered, otherwise = orders_of(pairs_of_figures(found, real, question), question)
        if ordered:
            names = "; ".join(f"{ahead} of {', '.join(behind)}" for ahead, behind in otherwise.items())
            yield f"| {question.upper()} | {ordered} | {sum(map(len, otherwise.values()))} | {names} |"


def simulated_gain(found, machine, question, of, over, workers):
    """None if one of both was not simulated."""
    one, other = (figure_of(found, machine, question, papers.row("", name).simulated(), workers) for name in (of, over))
    return None if one is None or other is None else times(question, one, other)


def lines_of_gains_here(found, record):
    results = table.results(record["runs"])
    yield "\n| gain, 2 workers | measured | simulated | the same way |\n|---|---|---|---|"
    for question, gains in papers.GAINS.items():
        for what, of, over, *_ in gains if question in rows.QUESTIONS else ():
            key, base = (papers.key_of(question, name, WORKERS) for name in (of, over))
            measured = results.ratios(key, base, rows.FIGURE[question], question != "w1") if key in results.by_row else []
            simulated = simulated_gain(found, "here_2", question, of, over, WORKERS)
            if measured and simulated is not None:
                yield (f"| {question.upper()}, {what} | x {statistics.median(measured):.3g} | x {simulated:.3g} "
                       f"| {papers.same_way((simulated,), measured)} |")


def lines_of_errors(found, record):
    _, real = rows.measured(record)
    yield from lines_of_spans(found, record, real)
    yield from lines_of_orders(found, real)
    yield from lines_of_gains_here(found, record)


def lines_of_gains(found):
    """On the papers' machines, beside what the papers say."""
    yield "| gain | paper | simulated | the same way |\n|---|---|---|---|"
    for machine, (_, paper) in rows.PAPERS.items():
        workers = machines.MACHINES[machine]["cores"]
        for question, gains in papers.GAINS.items():
            for what, of, over, *_ in gains if any(question == key[0] for key in paper) else ():
                simulated = simulated_gain(found, machine, question, of, over, workers)
                figures = [paper.get((question, papers.row("", name).simulated())) for name in (of, over)]
                theirs = times(question, *figures) if None not in figures else None
                if simulated is not None:
                    verdict = "" if theirs is None else papers.same_way((theirs,), [simulated])
                    yield f"| {question.upper()}, {what} | {'' if theirs is None else f'x {theirs:.3g}'} | x {simulated:.3g} | {verdict} |"


def lines_of_stealing(found):
    """What the default's brings, and by how many steals, on each machine where both were simulated."""
    on = [machine for machine in ("here_2", "mely_8", *rows.LARGE) if ("default:no-stealing" in {key[2] for key in found if key[0] == machine})]
    heads = "".join(f" {machines.MACHINES[machine]['cores']} cores, `{machine}` |" for machine in on)
    yield f"| the default's stealing, simulated |{heads}\n|---|{'---|' * len(on)}"
    for question in rows.QUESTIONS:
        cells = ""
        for machine in on:
            workers = machines.MACHINES[machine]["cores"]
            gain = simulated_gain(found, machine, question, "", "+no_steal", workers)
            steals = found[(machine, question, "default", workers)]["steals"] if gain is not None else 0
            cells += " |" if gain is None else f" x {gain:.3g}, {steals} steal{'s' if steals != 1 else ''} |"
        yield f"| {rows.TITLE[question]} |{cells}"


def tables(results, record):
    """{name: text}; `record`: what was measured on two cores."""
    found = {(each["machine"], each["question"], each["scheduler"], each["workers"]): each for each in results}
    lines = {"here": rows.lines_here(found, record), "errors": lines_of_errors(found, record), "papers": rows.lines_of_papers(found),
             "gains": lines_of_gains(found), "large": rows.lines_of_large(found), "stealing": lines_of_stealing(found), "losses": rows.lines_of_losses(found)}
    return {name: "\n".join(each).strip() for name, each in lines.items()}
