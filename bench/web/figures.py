"""From what the injector prints to the figures of one run, and from runs to medians and ratios."""

import statistics

KEPT = ("requests", "seconds", "requests_per_s", "megabytes_per_s", "bytes", "connections", "jain", "seed", "own_cpu_s", "saturated")


def of_run(told):
    """One flat set of figures. KeyError if one is missing."""
    server, late, errors = told["server"], told["latency_us"], told["errors"]
    requests = told["requests"]
    found = {name: told[name] for name in KEPT if name in told}
    found.update({"cpu_us": server["cpu_us_per_request"],
              "user_us": per_request(server["user_s"], requests), "system_us": per_request(server["system_s"], requests),
              "p50_us": late["p50"], "p99_us": late["p99"], "p999_us": late["p99.9"], "max_us": late["max"], "errors": sum(errors.values()),
              "starved": told["starved_clients"], "kb_per_connection": server["kb_per_connection"], "pss_kb": server["pss_kb"],
              "involuntary_switches": server["involuntary_switches"], "injector_us": per_request(told["own_cpu_s"], requests)})
    if any(errors.values()):
        found["errors_by_kind"] = {name: count for name, count in errors.items() if count}
    return found


def per_request(seconds, requests):
    return seconds * 1e6 / requests if requests else 0


class results:
    """All runs of one hold of the machine; a row is (workload, point, contender, workers)."""

    def __init__(self, runs, failed=()):
        """`failed`: rows that did not have all their rounds."""
        self.failed = {tuple(row) for row in failed}
        self.by_row = {}
        for run in runs:
            self.by_row.setdefault((run["workload"], run["point"], run["contender"], run["workers"]), {})[run["round"]] = run

    def rows(self, workload, point, order):
        """Of one point, by number of workers, then in this order; whom the order does not know comes last."""
        place = {name: n for n, name in enumerate(order)}
        return sorted((row for row in self.by_row if row[:2] == (workload, point)), key=lambda row: (row[3], place.get(row[2], len(place)), row[2]))

    def values(self, row, figure):
        return [run[figure] for run in self.by_row.get(row, {}).values() if run.get(figure) is not None]

    def median(self, row, figure):
        values = self.values(row, figure)
        return statistics.median(values) if values else None

    def ratios(self, row, base, figure):
        """How many times the base's, by round."""
        pairs = [(run.get(figure), self.by_row.get(base, {}).get(n, {}).get(figure)) for n, run in self.by_row.get(row, {}).items()]
        return [mine / other for mine, other in pairs if mine is not None and other]

    def by_round(self, rows, figure):
        """A list of these rows' values for each round that all of them have."""
        runs = [self.by_row.get(row, {}) for row in rows]
        shared = sorted(set.intersection(*map(set, runs))) if runs else []
        values = [[each[n].get(figure) for each in runs] for n in shared]
        return [each for each in values if None not in each]

    def ratio(self, row, base, figure):
        """The median of these; None if there are none."""
        ratios = self.ratios(row, base, figure)
        return statistics.median(ratios) if ratios else None

    def inverted_cost(self, row):
        """Requests per second of the server's processor time, times workers. No throughput: who waits, for a lock or for work, loses nothing here."""
        cpu_us = self.median(row, "cpu_us")
        return row[3] * 1e6 / cpu_us if cpu_us and cpu_us > 0 else None

    def cpu_use(self, row):
        """The share of its workers' time in which the server ran: well below 1, some of them idled, or had no CPU."""
        shares = [run["cpu_us"] * run["requests"] / 1e6 / run["seconds"] / row[3] for run in self.by_row.get(row, {}).values() if run.get("seconds")]
        return statistics.median(shares) if shares else None

    def workers(self, workload=None):
        """Numbers of them that were run, of one workload or of all."""
        return sorted({row[3] for row in (*self.by_row, *self.failed) if workload in (None, row[0])})
