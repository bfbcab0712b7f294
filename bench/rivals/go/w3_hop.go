package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// W3 by Go: 64 pairs of goroutines, an event of one sends to the other.
// The number is not that of a wake-up on another processor: the goroutine that is woken is the next one of the same.

const pairs = 64

type hopRun struct {
	lanes     lanes[hopEvent]
	ended     int64
	allEnded  sync.WaitGroup
	lastEnded time.Time
}

type hopEvent struct {
	in      *hopRun
	lane    int
	left    int
	payload [2]int
}

func (e hopEvent) run() {
	e.left--
	if e.left == 0 {
		e.in.pairEnded()
	} else {
		e.lane ^= 1
		e.in.lanes.to[e.lane] <- e
	}
}

func (r *hopRun) pairEnded() {
	if atomic.AddInt64(&r.ended, 1) == pairs {
		r.lastEnded = time.Now()
	}
	r.allEnded.Done()
}

func hop(asked request) {
	events := asked.size(5_000_000, pairs)
	r := &hopRun{}
	r.lanes.add(2*pairs, 1)
	r.allEnded.Add(pairs)
	out := newReport(asked)
	started := time.Now()
	for lane := 0; lane < 2*pairs; lane += 2 {
		r.lanes.to[lane] <- hopEvent{in: r, lane: lane, left: events / pairs}
	}
	r.allEnded.Wait()
	checkRan(r.lanes.end(), events)
	out.add("events", float64(events))
	out.add("ns_per_event", float64(r.lastEnded.Sub(started).Nanoseconds())/float64(events))
	out.print()
}
