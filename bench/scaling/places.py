"""Which CPUs a server and its load get."""

import os


class places:
    """With 4 CPUs and more, the upper half is the load's; with less, one CPU each for one worker."""

    def __init__(self, usable=None):
        self.all = sorted(os.sched_getaffinity(0) if usable is None else usable)

    def half(self):
        return max(1, len(self.all) // 2)

    def of(self, workers):
        """(CPUs of the server, CPUs of the load). A server with more workers than half of the CPUs shares all of them with the load."""
        if len(self.all) == 1 or workers > self.half():
            return self.all, self.all
        return self.all[:workers], self.all[self.half() :]

    def shared(self, workers):
        server, load = self.of(workers)
        return bool(set(server) & set(load))
