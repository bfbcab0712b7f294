"""How much time is left of what bench/scale may take."""

import time


class budget:
    """Begins when it is made. `clock`: seconds, that never go back."""

    def __init__(self, seconds, clock=time.monotonic):
        self.clock = clock
        self.began = clock()
        self.seconds = seconds
        self.longest = {}  # kind of a cell: what its longest run took

    def left(self):
        return self.seconds - (self.clock() - self.began)

    def used(self):
        return self.clock() - self.began

    def allows(self, kind):
        """Whether one more run of this kind ends in time, if it takes as long as the longest so far."""
        return self.left() > self.longest.get(kind, 0)

    def took(self, kind, seconds):
        self.longest[kind] = max(self.longest.get(kind, 0), seconds)
