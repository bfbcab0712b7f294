package main

import (
	"sync"
	"sync/atomic"
)

// What a channel carries: 40 bytes, as many as events have elsewhere.
type event interface{ run() }

// Lanes: each is a channel and a goroutine that runs what it receives, one by one. A channel of Go's has an end: who posts to a full one
// waits, so a lane needs as much room as it ever holds events.
type lanes[E event] struct {
	to    []chan E
	begun sync.WaitGroup
	ended sync.WaitGroup
	total int64
}

func (l *lanes[E]) add(count, room int) {
	first := len(l.to)
	l.begun.Add(count)
	l.ended.Add(count)
	for n := 0; n < count; n++ {
		l.to = append(l.to, make(chan E, room))
	}
	for _, events := range l.to[first:] {
		go l.serveFirst(events)
	}
	l.begun.Wait()
}

func (l *lanes[E]) serveFirst(events chan E) {
	l.begun.Done()
	l.serve(events)
}

// Until the channel is closed.
func (l *lanes[E]) serve(events chan E) {
	count := 0
	for e := range events {
		e.run()
		count++
	}
	atomic.AddInt64(&l.total, int64(count))
	l.ended.Done()
}

// Closes all and tells how many events ran.
func (l *lanes[E]) end() int {
	for _, events := range l.to {
		close(events)
	}
	return l.ran()
}

func (l *lanes[E]) ran() int {
	l.ended.Wait()
	return int(atomic.LoadInt64(&l.total))
}
