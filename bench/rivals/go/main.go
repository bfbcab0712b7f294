// The questions of bench/ by Go: a goroutine and a channel per color, GOMAXPROCS = workers.
package main

import (
	"fmt"
	"os"
	"runtime"
)

var questions = map[string]func(request){
	"w1":  eventCost,
	"w2":  postFromOutside,
	"w3":  hop,
	"w4":  unbalanced,
	"w5":  idleColor,
	"w6":  hotColor,
	"w7":  shortLived,
	"w8":  penalty,
	"w9":  locality,
	"w10": tableTwo,
	"w11": manyTimers,
}

func main() {
	asked, ok := fromCommandLine(os.Args[1:])
	measure := questions[asked.question]
	if !ok || measure == nil {
		fmt.Fprintln(os.Stderr, "usage: go_goroutine <w1 to w11> <workers> [scale = 1] [variant]")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(asked.workers)
	measure(asked)
}
