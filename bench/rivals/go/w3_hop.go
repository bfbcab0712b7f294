package main

// W3 by Go: 64 pairs of goroutines, an event of one sends to the other.
// The number is not that of a wake-up on another processor: the goroutine that is woken is the next one of the same.

const pairs = 64

type hopRun struct {
	lanes lanes[hopEvent]
	ends  chainEnds
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
		e.in.ends.oneEnded()
	} else {
		e.lane ^= 1
		e.in.lanes.to[e.lane] <- e
	}
}

func hop(asked request) {
	events := asked.size(5_000_000, pairs)
	r := &hopRun{}
	r.lanes.add(2*pairs, 1)
	out := newReport(asked)
	r.ends.start(pairs)
	for lane := 0; lane < 2*pairs; lane += 2 {
		r.lanes.to[lane] <- hopEvent{in: r, lane: lane, left: events / pairs}
	}
	r.ends.allEnded.Wait()
	checkRan(r.lanes.end(), events)
	out.add("events", float64(events))
	out.add("ns_per_event", r.ends.tookNs()/float64(events))
	r.ends.tell(out)
	out.print()
}
