// Package executor runs the steps of a plan as the runners of POSIX shell and PowerShell do: same order, same state
// folder, same records, so that a machine may change from one to another between any two steps.
package executor

import (
	"encoding/json"
	"time"

	"slipway.dev/machineadm/internal/plan"
)

// Pause is the time between two tries of a step.
const Pause = 10 * time.Second

// What ends without a code of the step's own.
const (
	exitCannotStart = 127
	exitNotKept     = 74
)

// Exit codes of a run.
const (
	Complete    = 0
	NotComplete = 1
)

// Host is what a run needs of its operating system.
type Host interface {
	// Ready says whether something may start, or a failure be told: not while the system goes down.
	Ready() bool
	// Done says whether the step has succeeded before.
	Done(step plan.Step) bool
	// Final says whether the step has failed before, and is not tried again.
	Final(step plan.Step) bool
	// Clear removes the record of an earlier failure.
	Clear(step plan.Step)
	// Execute runs the step once; it gives its exit code.
	Execute(step plan.Step) int
	// Sync has everything that was written so far outlive a power cut.
	Sync()
	// Keep marks the step as done.
	Keep(step plan.Step) error
	// Record keeps a failure, and sends the line to the serial console.
	Record(step plan.Step, line []byte)
	// Sentinel writes the success sentinel.
	Sentinel() error
	// Reboot orders the reboot; it gives the exit code of the run, if it comes back.
	Reboot() int
}

// Run executes what is not done yet; it gives the exit code.
func Run(host Host, steps *plan.Plan, pause time.Duration) int {
	result, bootstrapFailed := NotComplete, false
	for _, item := range steps.Items {
		if item.Sentinel {
			if bootstrapFailed {
				continue
			}
			if host.Sentinel() != nil {
				return NotComplete
			}
			result = Complete
			continue
		}
		step := item.Step
		if host.Done(step) {
			continue
		}
		if !host.Final(step) {
			code, ready := try(host, step, pause)
			if !ready {
				return NotComplete
			}
			if code == 0 && step.Flags.Reboot {
				return host.Reboot()
			}
			if code == 0 {
				continue
			}
			host.Record(step, line(steps.Bundle, step, code))
		}
		switch {
		case step.Flags.GoOn:
		case step.Flags.NoSentinel:
			bootstrapFailed = true
		default:
			return NotComplete
		}
	}
	return result
}

// try runs a step with its retries; it says with false that the system goes down: then no failure counts.
func try(host Host, step plan.Step, pause time.Duration) (code int, ready bool) {
	host.Clear(step)
	if !host.Ready() {
		return 0, false
	}
	code = host.Execute(step)
	for left := step.Retries; code != 0 && left > 0; left-- {
		time.Sleep(pause)
		if !host.Ready() {
			return 0, false
		}
		code = host.Execute(step)
	}
	if code == 0 {
		// What the step wrote is on the disk before the mark that says so.
		host.Sync()
		if host.Keep(step) != nil {
			code = exitNotKept
		}
	}
	host.Sync()
	return code, host.Ready()
}

// line gives what is told of a failure: never output, never a value.
func line(bundle string, step plan.Step, code int) []byte {
	text, err := json.Marshal(struct {
		Slipway string `json:"slipway"`
		Run     string `json:"run"`
		Phase   string `json:"phase"`
		Step    string `json:"step"`
		Exit    int    `json:"exit"`
	}{"failed", bundle, step.Phase, step.ID, code})
	if err != nil {
		return []byte("{\"slipway\":\"failed\"}\n")
	}
	return append(text, '\n')
}
