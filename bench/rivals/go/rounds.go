package main

import (
	"sync/atomic"
	"time"
)

// In a cache line of its own.
type countdown struct {
	left int64
	_    [56]byte
}

func (c *countdown) set(left int64) { atomic.StoreInt64(&c.left, left) }
func (c *countdown) isLast() bool   { return atomic.AddInt64(&c.left, -1) == 0 }

// Rounds, each of which begins when the last part of the one before has ended, until the time is up.
type rounds struct {
	inRound  int
	within   time.Duration
	count    int
	started  time.Time
	ended    time.Time
	left     countdown
	allEnded chan struct{}
}

func newRounds(parts int, within time.Duration) rounds {
	return rounds{inRound: parts, within: within, allEnded: make(chan struct{})}
}

// Before a round is posted.
func (r *rounds) start() {
	if r.count == 0 {
		r.started = time.Now()
	}
	r.count++
	r.left.set(int64(r.inRound))
}

// Whether the caller has to post the next round.
func (r *rounds) partEnded() bool {
	if !r.left.isLast() {
		return false
	}
	r.ended = time.Now()
	if r.ended.Sub(r.started) < r.within {
		return true
	}
	close(r.allEnded)
	return false
}

func (r *rounds) parts() int { return r.count * r.inRound }

func (r *rounds) tookNs() float64 { return float64(r.ended.Sub(r.started).Nanoseconds()) }

// Adds what W8 and W9 tell of their rounds.
func (r *rounds) tell(eventsPerPart int, out *report) {
	events := float64(r.parts() * eventsPerPart)
	out.add("events", events)
	out.add("rounds", float64(r.count))
	out.add("ns_per_a", r.tookNs()/float64(r.parts()))
	out.add("kilo_events_per_s", events/r.tookNs()*1e6)
}
