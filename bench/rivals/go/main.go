// The questions of bench/ by Go: a goroutine and a channel per color, GOMAXPROCS = workers.
package main

import (
	"fmt"
	"os"
	"runtime"
)

var questions = map[string]func(request){
	"w1": eventCost,
	"w2": postFromOutside,
	"w3": hop,
	"w4": unbalanced,
	"w5": idleColor,
	"w7": shortLived,
}

func main() {
	asked, ok := fromCommandLine(os.Args[1:])
	measure := questions[asked.question]
	if !ok || measure == nil {
		fmt.Fprintln(os.Stderr, "usage: go_goroutine <w1|w2|w3|w4|w5|w7> <workers> [scale = 1] [variant]")
		os.Exit(2)
	}
	runtime.GOMAXPROCS(asked.workers)
	measure(asked)
}
