package main

import "time"

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

type unbalancedRun struct {
	lanes   lanes[spinEvent]
	cycles  []uint32
	rounds  rounds
	inGroup [groups]countdown
}

type spinEvent struct {
	in      *unbalancedRun
	index   int
	payload [3]int
}

func (e spinEvent) run() {
	spinCycles(uint64(e.in.cycles[e.index]))
	if e.in.inGroup[e.index/groupEvents].isLast() && e.in.rounds.partEnded() {
		e.in.startRound()
	}
}

func (r *unbalancedRun) startRound() {
	r.rounds.start()
	for i := range r.inGroup {
		r.inGroup[i].set(groupEvents)
	}
	for i, to := range r.lanes.to {
		to <- spinEvent{in: r, index: i}
	}
}

func unbalanced(asked request) {
	within := time.Duration(asked.size(1_000_000_000, 1))
	r := &unbalancedRun{cycles: spinLengths(), rounds: newRounds(groups, within)}
	r.lanes.add(roundEvents, 1)
	ideal := idealRate(r.cycles, within/5) * float64(asked.workers)
	out := newReport(asked)
	go r.startRound()
	<-r.rounds.allEnded
	events := r.rounds.count * roundEvents
	checkRan(r.lanes.end(), events)
	rate := float64(events) / r.rounds.tookNs()
	out.add("events", float64(events))
	out.add("ns_per_event", 1/rate)
	out.add("kilo_events_per_s", rate*1e6)
	out.add("ideal_kilo_events_per_s", ideal*1e6)
	out.add("share_of_ideal", rate/ideal)
	out.print()
}
