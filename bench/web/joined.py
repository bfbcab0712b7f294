"""Several records as one: what takes hours is run in pieces."""


def joined(records):
    """Each point as the last of the records has it in which it was run, whole: ratios are of one run. `records`: [(file's name, record)].

    What the parts have in common is at the top; `parts` has the names and records, and which workloads of them count.
    """
    held = {}
    for n, (_, each) in enumerate(records):
        for point in points_of(each):
            held[point] = n
    whole = dict(records[-1][1], runs=[], failed=[], failed_rows=[], left_out=[], parts=[], contenders=[])
    for n, (name, each) in enumerate(records):
        counts = {point for point in points_of(each) if held[point] == n}
        if not counts:
            continue
        whole["parts"].append((name, each, sorted({workload for workload, _ in counts})))
        whole["runs"] += [run for run in each["runs"] if (run["workload"], run["point"]) in counts]
        whole["failed_rows"] += [row for row in each["failed_rows"] if tuple(row[:2]) in counts]
        whole["failed"] += [text for text in each["failed"] if tuple(text.split(",")[0].split(" ", 1)) in counts]
        whole["left_out"] += [text for text in each["left_out"] if text not in whole["left_out"]]
    whole["interrupted"] = any(each.get("interrupted") for _, each in records)
    return whole


def points_of(record):
    """(workload, point) of all that was run, or failed."""
    return {(run["workload"], run["point"]) for run in record["runs"]} | {tuple(row[:2]) for row in record["failed_rows"]}
