package main

import (
	"sync/atomic"
	"time"
)

// W9 by Go: 100 goroutines for each pair of processors, all woken by one; each makes an array whose halves two others sort.
// The number is not about caches that cores share: a thief begins at any processor. And Go's
// sort is another one than C++'s; in Go 1.19, Debian 12's, it calls a function for each comparison.

const (
	sortNumbers     = 512
	sortersPerPair  = 100
	lanesPerSorter  = 3
	eventsPerSorter = 5
)

type sortingRun struct {
	lanes  lanes[sorting]
	rounds rounds
	states []mergeState
	right  int64
}

// What A and its two C know of each other; they are serial.
type mergeState struct {
	numbers     []uint32
	sum         uint64
	halvesReady int
	_           [16]byte
}

type sortStep uint8

const (
	makes sortStep = iota
	sorts
	merges
)

type sorting struct {
	in    *sortingRun
	half  []uint32
	index int32
	step  sortStep
}

// In no order, others for each seed.
func fill(numbers []uint32, seed uint64) {
	x := (seed + 1) * 0x9e3779b97f4a7c15
	for i := range numbers {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		numbers[i] = uint32(x >> 32)
	}
}

// What does not depend on the order, and whether they are in order.
func sumOf(numbers []uint32) (sum uint64, ordered bool) {
	ordered = true
	for i, n := range numbers {
		sum += uint64(n)
		ordered = ordered && (i == 0 || numbers[i-1] <= n)
	}
	return sum, ordered
}

func (e sorting) run() {
	lane := int(e.index) * lanesPerSorter
	switch e.step {
	case makes:
		state := &e.in.states[e.index]
		state.numbers = make([]uint32, sortNumbers)
		fill(state.numbers, uint64(e.in.rounds.count*len(e.in.states)+int(e.index)))
		state.sum, _ = sumOf(state.numbers)
		state.halvesReady = 0
		e.in.lanes.to[lane+1] <- sorting{in: e.in, half: state.numbers[:sortNumbers/2], index: e.index, step: sorts}
		e.in.lanes.to[lane+2] <- sorting{in: e.in, half: state.numbers[sortNumbers/2:], index: e.index, step: sorts}
	case sorts:
		sortNumbersOf(e.half)
		e.in.lanes.to[lane] <- sorting{in: e.in, index: e.index, step: merges}
	case merges:
		e.in.merge(&e.in.states[e.index])
	}
}

func (r *sortingRun) merge(state *mergeState) {
	state.halvesReady++
	if state.halvesReady != 2 {
		return
	}
	var merged [sortNumbers]uint32
	one, other := state.numbers[:sortNumbers/2], state.numbers[sortNumbers/2:]
	for n := range merged {
		if len(one) == 0 || (len(other) != 0 && other[0] < one[0]) {
			merged[n], other = other[0], other[1:]
		} else {
			merged[n], one = one[0], one[1:]
		}
	}
	if sum, ordered := sumOf(merged[:]); ordered && sum == state.sum {
		atomic.AddInt64(&r.right, 1)
	}
	state.numbers = nil
	if r.rounds.partEnded() {
		r.startRound()
	}
}

func (r *sortingRun) startRound() {
	r.rounds.start()
	for index := range r.states {
		r.lanes.to[index*lanesPerSorter] <- sorting{in: r, index: int32(index)}
	}
}

func locality(asked request) {
	pairs := asked.workers / 2
	if pairs == 0 {
		pairs = 1
	}
	count := sortersPerPair * pairs
	r := &sortingRun{states: make([]mergeState, count), rounds: newRounds(count, time.Duration(asked.size(1_000_000_000, 1)))}
	r.lanes.add(count*lanesPerSorter, 2)
	out := newReport(asked)
	go r.startRound()
	<-r.rounds.allEnded
	checkRan(r.lanes.end(), r.rounds.parts()*eventsPerSorter)
	if r.right != int64(r.rounds.parts()) {
		fail("not every array was sorted and merged once")
	}
	r.rounds.tell(eventsPerSorter, out)
	out.print()
}
