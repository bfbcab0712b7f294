package main

import (
	"sync/atomic"
	"time"
)

// W4 by Go: rounds of 50 000 events of different goroutines, all sent by one handler.
// The number is not that of work that is spread well from the start, and most of what becomes ready goes through the queue that all
// processors share, for a processor's own holds 256 goroutines.

const (
	roundEvents = 50_000
	groupEvents = 1000
	groups      = roundEvents / groupEvents
)

// The cycle counter.
func rdtsc() uint64

func spinCycles(cycles uint64) {
	for start := rdtsc(); rdtsc()-start < cycles; {
	}
}

// The same spins for every contender, see bench/w4_unbalanced/workload.h.
func spinLengths() []uint32 {
	x := uint64(0x9e3779b97f4a7c15)
	next := func() uint64 {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return x >> 11
	}
	cycles := make([]uint32, roundEvents)
	for i := range cycles {
		cycles[i] = 100
		if next()%50 == 0 {
			cycles[i] = uint32(10_000 + next()%40_001)
		}
	}
	return cycles
}

// Events per ns of the same spins in a plain loop: the fastest of the rounds that fit into this time.
func idealRate(cycles []uint32, within time.Duration) float64 {
	fastest := time.Duration(1<<63 - 1)
	for start := time.Now(); time.Since(start) < within; {
		round := time.Now()
		for _, c := range cycles {
			spinCycles(uint64(c))
		}
		if took := time.Since(round); took < fastest {
			fastest = took
		}
	}
	return float64(len(cycles)) / float64(fastest.Nanoseconds())
}

// In a cache line of its own.
type countdown struct {
	left int64
	_    [56]byte
}

func (c *countdown) isLast() bool { return atomic.AddInt64(&c.left, -1) == 0 }

type unbalancedRun struct {
	lanes      lanes[spinEvent]
	cycles     []uint32
	within     time.Duration
	started    time.Time
	ended      time.Time
	rounds     int
	inGroup    [groups]countdown
	groupsLeft countdown
	allEnded   chan struct{}
}

type spinEvent struct {
	in      *unbalancedRun
	index   int
	payload [3]int
}

func (e spinEvent) run() {
	spinCycles(uint64(e.in.cycles[e.index]))
	e.in.eventEnded(e.index)
}

func (r *unbalancedRun) startRound() {
	if r.rounds == 0 {
		r.started = time.Now()
	}
	r.rounds++
	for i := range r.inGroup {
		atomic.StoreInt64(&r.inGroup[i].left, groupEvents)
	}
	atomic.StoreInt64(&r.groupsLeft.left, groups)
	for i, to := range r.lanes.to {
		to <- spinEvent{in: r, index: i}
	}
}

func (r *unbalancedRun) eventEnded(index int) {
	if !r.inGroup[index/groupEvents].isLast() || !r.groupsLeft.isLast() {
		return
	}
	r.ended = time.Now()
	if r.ended.Sub(r.started) >= r.within {
		close(r.allEnded)
	} else {
		r.startRound()
	}
}

func unbalanced(asked request) {
	within := time.Duration(asked.size(1_000_000_000, 1))
	r := &unbalancedRun{cycles: spinLengths(), within: within, allEnded: make(chan struct{})}
	r.lanes.add(roundEvents, 1)
	ideal := idealRate(r.cycles, within/5) * float64(asked.workers)
	out := newReport(asked)
	go r.startRound()
	<-r.allEnded
	events := r.rounds * roundEvents
	checkRan(r.lanes.end(), events)
	rate := float64(events) / float64(r.ended.Sub(r.started).Nanoseconds())
	out.add("events", float64(events))
	out.add("ns_per_event", 1/rate)
	out.add("kilo_events_per_s", rate*1e6)
	out.add("ideal_kilo_events_per_s", ideal*1e6)
	out.add("share_of_ideal", rate/ideal)
	out.print()
}
