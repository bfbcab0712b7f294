package main

import (
	"math"
	"time"
)

// Work whose length is calibrated once, see bench/harness/churn.h.

const (
	churnFactor = uint64(6364136223846793005)
	churnTerm   = uint64(1442695040888963407)
)

// Nothing after it begins before what stands before it has ended.
func lfence()

// Each step waits for the multiplication of the one before.
func churn(x uint64, steps int) uint64 {
	for n := 0; n < steps; n++ {
		x = x*churnFactor + churnTerm
	}
	return x
}

func churnAlone(x uint64, steps int) uint64 {
	x = churn(x, steps)
	lfence()
	return x
}

// What churn gives, by repeated squaring of x -> factor * x + term.
func churnResult(x uint64, steps int) uint64 {
	factor, term := churnFactor, churnTerm
	for ; steps != 0; steps >>= 1 {
		if steps&1 != 0 {
			x = x*factor + term
		}
		term = term*factor + term
		factor *= factor
	}
	return x
}

var churned uint64 // kept, else the compiler might leave the spins out

// How many steps take so long, by the fastest of some rounds.
func churnStepsIn(ns float64) int {
	const steps = 100_000
	fastest := math.MaxFloat64
	for round := 0; round < 30; round++ {
		start := time.Now()
		churned = churn(churned, steps)
		fastest = math.Min(fastest, float64(time.Since(start).Nanoseconds()))
	}
	return int(ns * steps / fastest)
}
