package main

import (
	"sort"
	"syscall"
	"time"
)

// W11 by Go: a time.AfterFunc per timer, whose function sends to the channel of the timer's goroutine.
// The number is not that of a timer's own channel, which a goroutine could wait for: a timer that fires starts a goroutine for its function.
// Go takes no deadlines, so a set looks at the clock once more than elsewhere; and it holds the collector's work.

const (
	timerLanes = 64
	timerRoom  = 16
	nearestNs  = 50_000_000
	nearNs     = 400_000_000
	farNs      = 60_000_000_000
)

// The same deadlines for every contender, see bench/w11_timers/workload.h.
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb
	return x ^ (x >> 31)
}

type timersRun struct {
	lanes      lanes[timerEvent]
	far        int // per lane
	near       int // per lane
	timers     [timerLanes][]*time.Timer
	lateNs     []float64
	inLane     [timerLanes]firedCount
	lanesLeft  countdown
	made       time.Time
	setBegan   int64
	fireBegan  int64
	cancels    int64
	ended      int64
	usedBefore syscall.Rusage
	usedAfter  syscall.Rusage
	allEnded   chan struct{}
}

// Only its own goroutine writes.
type firedCount struct {
	fired int
	early int
	_     [48]byte
}

type timerStep uint8

const (
	setsFar timerStep = iota
	setsNear
	fires
	cancelsFar
)

type timerEvent struct {
	in       *timersRun
	deadline int64
	index    int32 // of the near timer
	lane     int16
	step     timerStep
}

// By the monotonic clock.
func (r *timersRun) nowNs() int64 { return int64(time.Since(r.made)) }

func (r *timersRun) inEveryLane(step timerStep) {
	r.lanesLeft.set(timerLanes)
	for lane, to := range r.lanes.to {
		to <- timerEvent{in: r, lane: int16(lane), step: step}
	}
}

func (e timerEvent) run() {
	switch e.step {
	case setsFar:
		e.in.setFar(int(e.lane))
	case setsNear:
		e.in.setNear(int(e.lane))
	case fires:
		e.in.fired(e)
	case cancelsFar:
		e.in.cancelFar(int(e.lane))
	}
}

func (r *timersRun) set(e timerEvent) {
	to := r.lanes.to[e.lane]
	timer := time.AfterFunc(time.Duration(e.deadline-r.nowNs()), func() { to <- e })
	r.timers[e.lane] = append(r.timers[e.lane], timer)
}

func (r *timersRun) setFar(lane int) {
	for i := 0; i < r.far; i++ {
		deadline := r.setBegan + farNs + int64(scatter(uint64(lane*r.far+i))%farNs)
		r.set(timerEvent{in: r, deadline: deadline, lane: int16(lane), step: fires})
	}
	if !r.lanesLeft.isLast() {
		return
	}
	r.fireBegan = r.nowNs()
	r.usedBefore = usage()
	r.inEveryLane(setsNear)
}

func (r *timersRun) setNear(lane int) {
	for i := 0; i < r.near; i++ {
		index := lane*r.near + i
		deadline := r.fireBegan + nearestNs + int64(scatter(^uint64(index))%nearNs)
		r.set(timerEvent{in: r, deadline: deadline, index: int32(index), lane: int16(lane), step: fires})
	}
}

func (r *timersRun) fired(e timerEvent) {
	late := r.nowNs() - e.deadline
	here := &r.inLane[e.lane]
	if late < 0 {
		here.early++
	} else {
		r.lateNs[e.index] = float64(late)
	}
	here.fired++
	if here.fired != r.near || !r.lanesLeft.isLast() {
		return
	}
	r.usedAfter = usage()
	r.cancels = r.nowNs()
	r.inEveryLane(cancelsFar)
}

func (r *timersRun) cancelFar(lane int) {
	step := 7919 // a prime: visits every slot unless it divides their number
	if r.far%step == 0 {
		step = 1
	}
	for i, slot := 0, 0; i < r.far; i, slot = i+1, (slot+step)%r.far {
		if !r.timers[lane][slot].Stop() {
			fail("a timer was stopped that did not wait")
		}
	}
	if r.lanesLeft.isLast() {
		r.ended = r.nowNs()
		close(r.allEnded)
	}
}

// Of sorted values.
func (r *timersRun) lateUs(share float64) float64 {
	return r.lateNs[int(share*float64(len(r.lateNs)-1))] / 1e3
}

func manyTimers(asked request) {
	timers := asked.size(1_000_000, timerLanes)
	r := &timersRun{far: timers / timerLanes, near: timers/timerLanes/20 + 1, made: time.Now(), allEnded: make(chan struct{})}
	for lane := range r.timers {
		r.timers[lane] = make([]*time.Timer, 0, r.far+r.near)
	}
	near := r.near * timerLanes
	r.lateNs = make([]float64, near)
	r.lanes.add(timerLanes, timerRoom)
	out := newReport(asked)
	r.setBegan = r.nowNs()
	r.inEveryLane(setsFar)
	<-r.allEnded
	checkRan(r.lanes.end(), near+3*timerLanes)
	early := 0
	for _, each := range r.inLane {
		early += each.early
	}
	if early != 0 {
		fail("%d timers fired early", early)
	}
	sort.Float64s(r.lateNs)
	cpuNs := r.usedAfter.Utime.Nano() - r.usedBefore.Utime.Nano() + r.usedAfter.Stime.Nano() - r.usedBefore.Stime.Nano()
	out.add("timers", float64(timers))
	out.add("fired", float64(near))
	out.add("ns_per_set", float64(r.fireBegan-r.setBegan)/float64(timers))
	out.add("ns_per_cancel", float64(r.ended-r.cancels)/float64(timers))
	out.add("cpu_ns_per_fire", float64(cpuNs)/float64(near))
	out.add("late_us_median", r.lateUs(0.5))
	out.add("late_us_p99", r.lateUs(0.99))
	out.add("late_us_max", r.lateUs(1))
	out.add("fired_early", float64(early))
	out.print()
}
