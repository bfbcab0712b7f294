package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// One run's command line and figures, as bench/harness/request.h and report.h have them.
type request struct {
	question string
	workers  int
	scale    float64
	variant  string
}

// Command line: <question> <workers> [scale] [variant].
func fromCommandLine(words []string) (asked request, ok bool) {
	if len(words) < 2 || len(words) > 4 {
		return asked, false
	}
	asked = request{question: words[0], scale: 1}
	asked.workers, _ = strconv.Atoi(words[1])
	if len(words) > 2 {
		asked.scale, _ = strconv.ParseFloat(words[2], 64)
	}
	if len(words) > 3 {
		asked.variant = words[3]
	}
	return asked, asked.workers > 0 && asked.scale > 0
}

// The size at scale 1, scaled, and a multiple of unit.
func (asked request) size(atScale1, unit int) int {
	scaled := int(float64(atScale1)*asked.scale) / unit * unit
	if scaled == 0 {
		return unit
	}
	return scaled
}

func usage() syscall.Rusage {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		fail("getrusage: %v", err)
	}
	return used
}

// Collects figures from its making on; print adds what the process used meanwhile.
type report struct {
	line   strings.Builder
	before syscall.Rusage
	began  time.Time
}

func newReport(asked request) *report {
	out := &report{before: usage(), began: time.Now()}
	contender := "go_goroutine"
	if asked.variant != "" {
		contender += "+" + asked.variant
	}
	fmt.Fprintf(&out.line, `{"question": "%s", "contender": "%s", "workers": %d`, asked.question, contender, asked.workers)
	return out
}

func (out *report) add(name string, value float64) {
	fmt.Fprintf(&out.line, `, "%s": %s`, name, strconv.FormatFloat(value, 'g', 6, 64))
}

func (out *report) print() {
	wall := time.Since(out.began).Seconds()
	used := usage()
	seconds := func(after, before syscall.Timeval) float64 { return float64(after.Nano()-before.Nano()) / 1e9 }
	out.add("wall_s", wall)
	out.add("user_s", seconds(used.Utime, out.before.Utime))
	out.add("system_s", seconds(used.Stime, out.before.Stime))
	out.add("voluntary_switches", float64(used.Nvcsw-out.before.Nvcsw))
	out.add("involuntary_switches", float64(used.Nivcsw-out.before.Nivcsw))
	fmt.Println(out.line.String() + "}")
}

func fail(format string, values ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", values...)
	os.Exit(1)
}

// Ends the program if not all of what the workload posted has run.
func checkRan(ran, expected int) {
	if ran != expected {
		fail("%d events ran, and not %d", ran, expected)
	}
}

// Bytes of this process in memory.
func residentBytes() float64 {
	statm, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		fail("%v", err)
	}
	pages, err := strconv.ParseFloat(strings.Fields(string(statm))[1], 64)
	if err != nil {
		fail("%v", err)
	}
	return pages * float64(os.Getpagesize())
}
