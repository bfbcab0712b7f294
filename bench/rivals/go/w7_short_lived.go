package main

import "time"

// W7 by Go: a goroutine started with a channel of its own, three events, and the channel is closed.
// The number is not that of a go statement alone: the channel is half of it; and it holds the collector's work, and a group that all
// goroutines share, by which the end is seen.

const madeAtOnce = 16

type briefRun struct {
	maker lanes[briefEvent]
	fresh lanes[briefEvent]
}

// The maker, or one of the three.
type briefEvent struct {
	in      *briefRun
	left    int // to be made by the maker; 0: one of the three
	payload [3]int
}

func (e briefEvent) run() {
	if e.left != 0 {
		e.in.make(e.left)
	}
}

func (r *briefRun) make(left int) {
	r.fresh.ended.Add(madeAtOnce)
	for n := 0; n < madeAtOnce; n++ {
		events := make(chan briefEvent, 3)
		go r.fresh.serve(events)
		for i := 0; i < 3; i++ {
			events <- briefEvent{in: r}
		}
		close(events)
	}
	if left > madeAtOnce {
		r.maker.to[0] <- briefEvent{in: r, left: left - madeAtOnce}
	} else {
		close(r.maker.to[0])
	}
}

func shortLived(asked request) {
	colors := asked.size(1_000_000, madeAtOnce)
	r := &briefRun{}
	r.maker.add(1, 1)
	out := newReport(asked)
	started := time.Now()
	r.maker.to[0] <- briefEvent{in: r, left: colors}
	ran := r.maker.ran() + r.fresh.ran()
	took := time.Since(started)
	checkRan(ran, 3*colors+colors/madeAtOnce)
	out.add("colors", float64(colors))
	out.add("ns_per_color", float64(took.Nanoseconds())/float64(colors))
	out.print()
}
