package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// Chains of events that run until their ends, and when that was.
type chainEnds struct {
	count    int64
	ended    int64
	allEnded sync.WaitGroup
	started  time.Time
	first    time.Time
	last     time.Time
}

// Before the first event is posted.
func (c *chainEnds) start(count int) {
	c.count = int64(count)
	c.allEnded.Add(count)
	c.started = time.Now()
}

func (c *chainEnds) oneEnded() {
	now := atomic.AddInt64(&c.ended, 1)
	if now == 1 {
		c.first = time.Now()
	}
	if now == c.count {
		c.last = time.Now()
	}
	c.allEnded.Done()
}

func (c *chainEnds) tookNs() float64 { return float64(c.last.Sub(c.started).Nanoseconds()) }

// Fairness: the chains are equal, so in turn they would end together, at 1.
func (c *chainEnds) tell(out *report) {
	out.add("first_chain_ends_at", float64(c.first.Sub(c.started).Nanoseconds())/c.tookNs())
}
