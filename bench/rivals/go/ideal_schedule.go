package main

import "container/heap"

// The schedule that W6's delays are compared with, see bench/w6_hot_color/ideal_schedule.h. All events are equally long, so it goes in steps.
type idealEvent struct {
	number int // of its post
	at     int
	chain  int
	step   int
}

// The one posted first is on top.
type byPost []idealEvent

func (b byPost) Len() int           { return len(b) }
func (b byPost) Less(i, j int) bool { return b[i].number < b[j].number }
func (b byPost) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *byPost) Push(e any)        { *b = append(*b, e.(idealEvent)) }
func (b *byPost) Pop() any {
	last := (*b)[len(*b)-1]
	*b = (*b)[:len(*b)-1]
	return last
}

type idealSchedule struct {
	workers  int
	waiting  [hotColors][]idealEvent // by color, the one that runs or is runnable first
	runnable byPost
	running  []idealEvent
}

func (s *idealSchedule) accept(e idealEvent) {
	color := colorOf(e.chain, e.step)
	s.waiting[color] = append(s.waiting[color], e)
	if len(s.waiting[color]) == 1 {
		heap.Push(&s.runnable, e)
	}
}

func (s *idealSchedule) start() {
	for len(s.running) < s.workers && len(s.runnable) != 0 {
		s.running = append(s.running, heap.Pop(&s.runnable).(idealEvent))
	}
}

func (s *idealSchedule) finishFirst() idealEvent {
	done := s.running[0]
	s.running = s.running[1:]
	color := colorOf(done.chain, done.step)
	s.waiting[color] = s.waiting[color][1:]
	if len(s.waiting[color]) != 0 {
		heap.Push(&s.runnable, s.waiting[color][0])
	}
	return done
}

// Delays of the cold chains, in lengths of an event, if each chain posts its next event when the one before has ended.
func idealColdDelays(workers, steps int) []float64 {
	s := &idealSchedule{workers: workers}
	var posts []idealEvent
	for chain := 0; chain < hotChains; chain++ {
		posts = append(posts, idealEvent{number: chain, chain: chain})
	}
	number := hotChains
	var delays []float64
	for now := 1; len(posts) != 0 || len(s.running) != 0; now++ {
		for _, e := range posts {
			s.accept(e)
			s.start()
		}
		posts = posts[:0]
		for n := len(s.running); n > 0; n-- {
			done := s.finishFirst()
			if !isHot(done.chain) {
				delays = append(delays, float64(now-done.at))
			}
			if done.step+1 < steps {
				posts = append(posts, idealEvent{number: number, at: now, chain: done.chain, step: done.step + 1})
				number++
			}
			s.start()
		}
	}
	return delays
}
