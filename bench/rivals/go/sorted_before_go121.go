//go:build !go1.21

package main

import "sort"

// Calls a function for each comparison, which is most of the time that W9 takes then.
func sortNumbersOf(half []uint32) {
	sort.Slice(half, func(i, j int) bool { return half[i] < half[j] })
}
