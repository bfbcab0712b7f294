package main

import "sync/atomic"

// W10 by Go: 16 goroutines, each computes a little and sends to its own channel.
// The number is not about a worker that starts empty: goroutines are woken by the one that starts them, and taken from its processor.

const (
	smallColors = 16
	smallSteps  = 64
)

type smallRun struct {
	lanes   lanes[smallTask]
	ends    chainEnds
	results uint64
}

type smallTask struct {
	in      *smallRun
	lane    int
	left    int
	x       uint64
	payload int
}

func (e smallTask) run() {
	e.x = churnAlone(e.x, smallSteps)
	e.left--
	if e.left == 0 {
		atomic.AddUint64(&e.in.results, e.x)
		e.in.ends.oneEnded()
	} else {
		e.in.lanes.to[e.lane] <- e
	}
}

func tableTwo(asked request) {
	tasks := asked.size(2_000_000, smallColors)
	r := &smallRun{}
	r.lanes.add(smallColors, 1)
	out := newReport(asked)
	r.ends.start(smallColors)
	for lane, to := range r.lanes.to {
		to <- smallTask{in: r, lane: lane, left: tasks / smallColors, x: uint64(lane)}
	}
	r.ends.allEnded.Wait()
	checkRan(r.lanes.end(), tasks)
	sum := uint64(0)
	for i := uint64(0); i < smallColors; i++ {
		sum += churnResult(i, tasks/smallColors*smallSteps)
	}
	if r.results != sum {
		fail("not every task ran once")
	}
	out.add("tasks", float64(tasks))
	out.add("tasks_per_s", float64(tasks)/r.ends.tookNs()*1e9)
	out.add("ns_per_task", r.ends.tookNs()/float64(tasks))
	r.ends.tell(out)
	out.print()
}
