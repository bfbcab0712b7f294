package main

import (
	"sync"
	"time"
)

// W2 by Go: a goroutine sends over 10 000 channels, round robin; each has room for 16 events.
// The number is not that of a thread beside the workers: Go has none, so the one that posts is one of them. Nor is it that of an unbounded
// queue: where a channel is full, the one that posts waits until its goroutine had its turn.

const (
	outsideLanes = 10_000
	outsideRoom  = 16
)

// A lane's last event tells the group, so that none is shared by the others.
type emptyEvent struct {
	lastOf  *sync.WaitGroup
	payload [4]int
}

func (e emptyEvent) run() {
	if e.lastOf != nil {
		e.lastOf.Done()
	}
}

func postFromOutside(asked request) {
	events := asked.size(1_000_000, outsideLanes)
	perLane := events / outsideLanes
	var all lanes[emptyEvent]
	var lasts sync.WaitGroup
	all.add(outsideLanes, outsideRoom)
	lasts.Add(outsideLanes)
	out := newReport(asked)
	started := time.Now()
	for n := 1; n <= perLane; n++ {
		e := emptyEvent{}
		if n == perLane {
			e.lastOf = &lasts
		}
		for _, to := range all.to {
			to <- e
		}
	}
	posted := time.Since(started)
	lasts.Wait()
	ended := time.Since(started)
	checkRan(all.end(), events)
	out.add("events", float64(events))
	out.add("ns_per_event", float64(ended.Nanoseconds())/float64(events))
	out.add("ns_per_post", float64(posted.Nanoseconds())/float64(events))
	out.print()
}
