package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// W1 by Go: 64 goroutines, each sends to its own channel, which has room for one event.
// The number is not that of a switch between goroutines: one that finds its next event in the channel goes on, until the runtime takes the
// processor away after 10 ms, see when the first chain ends. Nor is the event type-erased: the channel knows its type.

const chains = 64

type chainRun struct {
	lanes      lanes[chainEvent]
	ended      int64
	allEnded   sync.WaitGroup
	firstEnded time.Time
	lastEnded  time.Time
}

type chainEvent struct {
	in      *chainRun
	lane    int
	left    int
	payload [2]int
}

func (e chainEvent) run() {
	e.left--
	if e.left == 0 {
		e.in.chainEnded()
	} else {
		e.in.lanes.to[e.lane] <- e
	}
}

func (r *chainRun) chainEnded() {
	now := atomic.AddInt64(&r.ended, 1)
	if now == 1 {
		r.firstEnded = time.Now()
	}
	if now == chains {
		r.lastEnded = time.Now()
	}
	r.allEnded.Done()
}

func eventCost(asked request) {
	events := asked.size(5_000_000, chains)
	r := &chainRun{}
	r.lanes.add(chains, 1)
	r.allEnded.Add(chains)
	out := newReport(asked)
	started := time.Now()
	for lane, to := range r.lanes.to {
		to <- chainEvent{in: r, lane: lane, left: events / chains}
	}
	r.allEnded.Wait()
	checkRan(r.lanes.end(), events)
	took := r.lastEnded.Sub(started)
	out.add("events", float64(events))
	out.add("ns_per_event", float64(took.Nanoseconds())/float64(events))
	out.add("first_chain_ends_at", float64(r.firstEnded.Sub(started))/float64(took))
	out.print()
}
