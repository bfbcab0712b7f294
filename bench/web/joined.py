"""Several records as one: what takes hours is run in pieces."""


def joined(records):
    """Each point as the last of the records has it in which it was run, whole: ratios are of one run. `records`: [(file's name, record)].

    A point of which one has nothing but failures is taken only if no other has runs. `parts` has (name, record, workloads, what is of it), by workload,
    of those that count; `replaced` says where a later file has less than an earlier one.
    """
    held, replaced = {}, []
    for n, (name, each) in enumerate(records):
        for point, rows in rows_of(each).items():
            before = held.get(point)
            if before is not None and not rows:
                continue
            if before is not None and (less := less_of(each, rows, records[before[0]][1], before[1])):
                replaced.append(f"{' '.join(point)} is of {name}, which has {less}; {records[before[0]][0]} has more")
            held[point] = n, rows
    counts = [sorted(point for point, (of, _) in held.items() if of == n) for n in range(len(records))]
    parts = [(*records[n], sorted({workload for workload, _ in points}), labels_of(points, held)) for n, points in enumerate(counts) if points]
    whole = dict(records[-1][1], runs=[], failed=[], failed_rows=[], contenders=[], replaced=replaced, parts=sorted(parts, key=lambda part: part[2]))
    whole.pop("interrupted", None)  # each part says so of itself
    for (_, each), points in zip(records, counts):
        whole["runs"] += [run for run in each["runs"] if (run["workload"], run["point"]) in points]
        whole["failed_rows"] += [row for row in each.get("failed_rows", ()) if tuple(row[:2]) in points]
        whole["failed"] += [text for text in each["failed"] if any(text.startswith(" ".join(point) + ",") for point in points)]
    return whole


def labels_of(points, held):
    """What is of one record, in words: whole workloads by their name, of others the points."""
    words = []
    for workload in sorted({of for of, _ in points}):
        mine = [name for of, name in points if of == workload]
        whole = len(mine) == sum(of == workload for of, _ in held)
        words.append(workload.upper() + ("" if whole else f" ({', '.join(mine)})"))
    return words


def less_of(record, rows, earlier, there):
    """In which the rows of a point are less than those of an earlier record, in words; nothing if they are not."""
    lacks = [f"{name} with {workers}" for name, workers in sorted(there - rows)]
    words = [f"no {', '.join(lacks)}"] if lacks else []
    if record["rounds"] < earlier["rounds"]:
        words.append(f"{record['rounds']} rounds instead of {earlier['rounds']}")
    if record.get("interrupted") and not earlier.get("interrupted"):
        words.append("perhaps not all rounds, for it was interrupted")
    return " and ".join(words)


def rows_of(record):
    """{(workload, point): its rows}, also where all have failed."""
    found = {tuple(row[:2]): set() for row in record.get("failed_rows", ())}
    for run in record["runs"]:
        found.setdefault((run["workload"], run["point"]), set()).add((run["contender"], run["workers"]))
    return found
