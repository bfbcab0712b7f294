package main

import "sync"

// W5 by Go: a goroutine that waits for its channel, which has room for one event; the channel lies in a slice and counts.
// The number is not the weight of a goroutine alone, whose stack is most of it, nor is it without what the collector keeps in reserve.

const touchedAtOnce = 1000

type touchEvent struct {
	touched *sync.WaitGroup
	payload [4]int
}

func (e touchEvent) run() { e.touched.Done() }

// Sends one event to each, a thousand at a time.
func touch(all []chan touchEvent) {
	for first := 0; first < len(all); first += touchedAtOnce {
		var touched sync.WaitGroup
		touched.Add(touchedAtOnce)
		for _, to := range all[first : first+touchedAtOnce] {
			to <- touchEvent{touched: &touched}
		}
		touched.Wait()
	}
}

func idleColor(asked request) {
	colors := asked.size(1_000_000, touchedAtOnce)
	out := newReport(asked)
	var all lanes[touchEvent]
	all.to = make([]chan touchEvent, 0, touchedAtOnce+colors)
	all.add(touchedAtOnce, 1)
	touch(all.to)
	// What the first thousand need is not counted, nor is what everything else needs.
	before := residentBytes()
	for n := 0; n < colors; n += touchedAtOnce {
		all.add(touchedAtOnce, 1)
	}
	touch(all.to[touchedAtOnce:])
	after := residentBytes()
	checkRan(all.end(), touchedAtOnce+colors)
	grown := after - before
	if grown < 0 {
		grown = 0
	}
	out.add("colors", float64(colors))
	out.add("bytes_per_color", grown/float64(colors))
	out.print()
}
