package main

// W1 by Go: 64 goroutines, each sends to its own channel, which has room for one event.
// The number is not that of a switch between goroutines: one that finds its next event in the channel goes on, until the runtime takes the
// processor away after 10 ms, see when the first chain ends. Nor is the event type-erased: the channel knows its type.

const chains = 64

type chainRun struct {
	lanes lanes[chainEvent]
	ends  chainEnds
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
		e.in.ends.oneEnded()
	} else {
		e.in.lanes.to[e.lane] <- e
	}
}

func eventCost(asked request) {
	events := asked.size(5_000_000, chains)
	r := &chainRun{}
	r.lanes.add(chains, 1)
	out := newReport(asked)
	r.ends.start(chains)
	for lane, to := range r.lanes.to {
		to <- chainEvent{in: r, lane: lane, left: events / chains}
	}
	r.ends.allEnded.Wait()
	checkRan(r.lanes.end(), events)
	out.add("events", float64(events))
	out.add("ns_per_event", r.ends.tookNs()/float64(events))
	r.ends.tell(out)
	out.print()
}
