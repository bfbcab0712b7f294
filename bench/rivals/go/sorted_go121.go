//go:build go1.21

package main

import "slices"

func sortNumbersOf(half []uint32) { slices.Sort(half) }
