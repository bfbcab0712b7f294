"""Which CPUs a server and its load get."""

import os


class places:
    """The load has the upper half of the CPUs, the server one CPU for each worker."""

    def __init__(self, usable=None):
        self.all = sorted(os.sched_getaffinity(0) if usable is None else usable)

    def half(self):
        return max(1, len(self.all) // 2)

    def of(self, workers):
        """(CPUs of the server, CPUs of the load). With more workers than half of the CPUs, both share all of them."""
        if len(self.all) == 1 or workers > self.half():
            return self.all, self.all
        return self.all[:workers], self.all[self.half() :]

    def shared(self, workers):
        server, load = self.of(workers)
        return bool(set(server) & set(load))
