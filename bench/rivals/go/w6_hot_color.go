package main

import (
	"math"
	"sort"
	"sync/atomic"
	"time"
)

// W6 by Go: 256 chains of sends, half of them to one goroutine, half spread over 1000 others.
// The number is not that of service in order: a goroutine keeps its processor for up to 10 ms as long as its channel is not empty.

const (
	hotChains      = 256
	hotColors      = 1001
	shareOfHottest = 0.5
	hotSpinNs      = 2000.0
)

type hotRun struct {
	lanes      lanes[busyEvent]
	ends       chainEnds
	steps      int
	churnSteps int
	inColor    [hotColors]hotCount
	ended      []uint64 // by the cycle counter; also when the chain's next event was posted
	started    uint64
	results    uint64
	disturbed  int32
}

type hotCount struct {
	events    int // only its own goroutine writes
	enteredBy int64
	_         [48]byte
}

// One of a chain; chains with an even number stay in the hot color, the others visit the cold ones.
type busyEvent struct {
	in      *hotRun
	chain   int32
	step    int32
	x       uint64
	payload [2]int
}

func isHot(chain int) bool { return chain%2 == 0 }

func colorOf(chain, step int) int {
	if isHot(chain) {
		return 0
	}
	return 1 + int(churn(uint64(chain)<<32+uint64(step), 2)>>32)%(hotColors-1)
}

func (e busyEvent) run() {
	e.x = e.in.work(int(e.chain), int(e.step), e.x)
	e.step++
	if int(e.step) == e.in.steps {
		atomic.AddUint64(&e.in.results, e.x)
		e.in.ends.oneEnded()
	} else {
		e.in.lanes.to[colorOf(int(e.chain), int(e.step))] <- e
	}
}

// The spin and what is kept of it. Each chain has one event under way, so who enters a color meanwhile writes another number.
func (r *hotRun) work(chain, step int, x uint64) uint64 {
	color := &r.inColor[colorOf(chain, step)]
	atomic.StoreInt64(&color.enteredBy, int64(chain))
	x = churn(x, r.churnSteps)
	color.events++
	if atomic.LoadInt64(&color.enteredBy) != int64(chain) {
		atomic.StoreInt32(&r.disturbed, 1)
	}
	r.ended[chain*r.steps+step] = rdtsc()
	return x
}

// ns per event of the same spins in a plain loop: the fastest of the rounds that fit into this time.
func (r *hotRun) loopNs(within time.Duration) float64 {
	events := r.steps
	if events > 500 {
		events = 500
	}
	fastest := math.MaxFloat64
	for start := time.Now(); time.Since(start) < within; {
		round := time.Now()
		for i := 0; i < events; i++ {
			churned = r.work(i%hotChains, i, churned)
		}
		fastest = math.Min(fastest, float64(time.Since(round).Nanoseconds()))
	}
	for i := range r.inColor {
		r.inColor[i].events = 0
	}
	return fastest / float64(events)
}

func (r *hotRun) check() {
	var events [hotColors]int
	sum := uint64(0)
	for chain := 0; chain < hotChains; chain++ {
		sum += churnResult(uint64(chain), r.steps*r.churnSteps)
		for step := 0; step < r.steps; step++ {
			events[colorOf(chain, step)]++
		}
	}
	for i := range events {
		if r.inColor[i].events != events[i] {
			fail("not every event ran once")
		}
	}
	if r.results != sum || r.disturbed != 0 {
		fail("not every event ran once and alone in its color")
	}
}

// Of the cold chains, in cycles.
func (r *hotRun) coldDelays() []float64 {
	var all []float64
	for chain := 0; chain < hotChains; chain++ {
		if isHot(chain) {
			continue
		}
		posted := r.started
		for _, ended := range r.ended[chain*r.steps : (chain+1)*r.steps] {
			all = append(all, float64(ended-posted))
			posted = ended
		}
	}
	return all
}

// Sorts them first.
func quantiles(of []float64, unit float64) func(float64) float64 {
	sort.Float64s(of)
	return func(q float64) float64 { return of[int(q*float64(len(of)-1))] * unit }
}

func hotColor(asked request) {
	events := asked.size(256_000, hotChains)
	steps := events / hotChains
	r := &hotRun{steps: steps, churnSteps: churnStepsIn(hotSpinNs), ended: make([]uint64, events)}
	r.lanes.add(hotColors, hotChains)
	loopNs := r.loopNs(time.Duration(asked.size(100_000_000, 1)))
	out := newReport(asked)
	r.ends.start(hotChains)
	r.started = rdtsc()
	for chain := 0; chain < hotChains; chain++ {
		r.lanes.to[colorOf(chain, 0)] <- busyEvent{in: r, chain: int32(chain), x: uint64(chain)}
	}
	r.ends.allEnded.Wait()
	usPerCycle := float64(time.Since(r.ends.started).Nanoseconds()) / 1e3 / float64(rdtsc()-r.started)
	checkRan(r.lanes.end(), events)
	r.check()

	speedUp := float64(events) * loopNs / r.ends.tookNs()
	cold := quantiles(r.coldDelays(), usPerCycle)
	ideal := quantiles(idealColdDelays(asked.workers, steps), loopNs/1e3)
	out.add("events", float64(events))
	out.add("speed_up", speedUp)
	out.add("share_of_bound", speedUp/math.Min(float64(asked.workers), 1/shareOfHottest))
	out.add("cold_p99_vs_ideal", cold(0.99)/ideal(0.99))
	out.add("cold_us_median", cold(0.5))
	out.add("cold_us_p99", cold(0.99))
	out.add("cold_us_max", cold(1))
	out.add("ideal_cold_us_p99", ideal(0.99))
	out.add("spin_ns", loopNs)
	out.print()
}
