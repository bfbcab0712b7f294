package main

import (
	"sync/atomic"
	"time"
)

// W8 by Go: 48 goroutines, all woken by one; each makes an array and reads it in a chain of sends to itself.
// The number is not about penalties: a goroutine keeps its processor for up to 10 ms, which is longer than a chain. And it holds the collector's work.

const (
	readNumbers      = 8192
	pieceNumbers     = 16
	pieces           = readNumbers / pieceNumbers
	pieceSteps       = 64
	readers          = 48
	eventsPerReading = 1 + pieces
)

type readingRun struct {
	lanes    lanes[reading]
	rounds   rounds
	expected [readers]uint64
	right    int64
}

// A as long as it has no array, then B.
type reading struct {
	in    *readingRun
	array *[readNumbers]uint32
	x     uint64
	index int32
	piece int32
}

func numbersFrom(index int32) *[readNumbers]uint32 {
	array := new([readNumbers]uint32)
	for n := range array {
		array[n] = uint32(index) + uint32(n)
	}
	return array
}

func readPiece(array *[readNumbers]uint32, piece int32, x uint64) uint64 {
	for _, n := range array[piece*pieceNumbers : (piece+1)*pieceNumbers] {
		x += uint64(n)
	}
	return churnAlone(x, pieceSteps)
}

func (e reading) run() {
	if e.array == nil {
		e.array = numbersFrom(e.index)
	} else {
		e.x = readPiece(e.array, e.piece, e.x)
		e.piece++
	}
	if e.piece < pieces {
		e.in.lanes.to[e.index] <- e
		return
	}
	if e.x == e.in.expected[e.index] {
		atomic.AddInt64(&e.in.right, 1)
	}
	if e.in.rounds.partEnded() {
		e.in.startRound()
	}
}

func (r *readingRun) startRound() {
	r.rounds.start()
	for index, to := range r.lanes.to {
		to <- reading{in: r, index: int32(index)}
	}
}

func penalty(asked request) {
	r := &readingRun{rounds: newRounds(readers, time.Duration(asked.size(1_000_000_000, 1)))}
	for i := range r.expected {
		array := numbersFrom(int32(i))
		for piece := int32(0); piece < pieces; piece++ {
			r.expected[i] = readPiece(array, piece, r.expected[i])
		}
	}
	r.lanes.add(readers, 1)
	out := newReport(asked)
	go r.startRound()
	<-r.rounds.allEnded
	checkRan(r.lanes.end(), r.rounds.parts()*eventsPerReading)
	if r.right != int64(r.rounds.parts()) {
		fail("not every array was read once, in order and by one")
	}
	r.rounds.tell(eventsPerReading, out)
	out.print()
}
