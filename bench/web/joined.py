"""Several records as one: what takes hours is run in pieces."""


def joined(records):
    """Each point as the last of the records has it in which it was run, whole: ratios are of one run. `records`: [(file's name, record)].

    A point of which one has nothing but failures is taken only if no other has runs. `parts` has the names and records, by workload, and which of
    them count; `replaced` says where a later file has less than an earlier one.
    """
    held, replaced = {}, []
    for n, (name, each) in enumerate(records):
        for point, rows in rows_of(each).items():
            before = held.get(point)
            if before is not None and not rows:
                continue
            if before is not None and len(rows) < len(before[1]):
                replaced.append(f"{' '.join(point)}: {len(rows)} rows of {name}, where {records[before[0]][0]} has {len(before[1])}")
            held[point] = n, rows
    counts = [{point for point, (of, _) in held.items() if of == n} for n in range(len(records))]
    parts = [(*records[n], sorted({workload for workload, _ in points})) for n, points in enumerate(counts) if points]
    whole = dict(records[-1][1], runs=[], failed=[], failed_rows=[], contenders=[], replaced=replaced, parts=sorted(parts, key=lambda part: part[2]))
    for (_, each), points in zip(records, counts):
        whole["runs"] += [run for run in each["runs"] if (run["workload"], run["point"]) in points]
        whole["failed_rows"] += [row for row in each.get("failed_rows", ()) if tuple(row[:2]) in points]
        whole["failed"] += [text for text in each["failed"] if tuple(text.split(",")[0].split(" ", 1)) in points]
    whole["interrupted"] = any(each.get("interrupted") for _, each in records)
    return whole


def rows_of(record):
    """{(workload, point): its rows}, also where all have failed."""
    found = {tuple(row[:2]): set() for row in record.get("failed_rows", ())}
    for run in record["runs"]:
        found.setdefault((run["workload"], run["point"]), set()).add((run["contender"], run["workers"]))
    return found
