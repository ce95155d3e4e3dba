// Package executor runs the steps of a plan as the runners of POSIX shell and PowerShell do: same order, same state
// folder, same records, so that a machine may change from one to another between any two steps.
package executor

import (
	"time"

	"slipway.dev/machineadm/internal/events"
	"slipway.dev/machineadm/internal/plan"
)

// Pause is the time between two tries of a step.
const Pause = 10 * time.Second

// What ends without a code of the step's own.
const (
	exitCannotStart = 127
	exitNotKept     = 74
	exitTimedOut    = 124
)

const bootstrapPhase = "bootstrap"

// The console may take so long for a line.
const consolePatience = 9 * time.Second

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
	// Report writes an event to the file of events and to the serial console; it gives its line.
	Report(event events.Event) []byte
	// Observe gives the reasons that are reported of the kubelet and of the container runtime, where the machine has them.
	Observe() []string
	// Record keeps a failure.
	Record(step plan.Step, line []byte)
	// Sentinel writes the success sentinel.
	Sentinel() error
	// Reboot orders the reboot; it gives the exit code of the run, if it comes back.
	Reboot() int
}

// Run executes what is not done yet; it gives the exit code.
func Run(host Host, steps *plan.Plan, pause time.Duration) int {
	result, bootstrapFailed := NotComplete, false
	var booted *plan.Step // the last step of the phase that has just succeeded
	for _, item := range steps.Items {
		if booted != nil && (item.Sentinel || item.Step.Phase != bootstrapPhase) {
			observe(host, booted)
			booted = nil
		}
		if item.Sentinel {
			if bootstrapFailed {
				continue
			}
			if host.Sentinel() != nil {
				return NotComplete
			}
			host.Report(events.Event{State: events.Complete})
			result = Complete
			continue
		}
		step := item.Step
		if host.Done(step) {
			continue
		}
		if !host.Final(step) {
			end, ready := try(host, step, pause)
			if !ready {
				return NotComplete
			}
			if end.State == events.Failed || end.State == events.Tolerated {
				observe(host, &step)
				booted = nil
			}
			line := host.Report(end)
			switch end.State {
			case events.Rebooting:
				return host.Reboot()
			case events.Succeeded:
				if step.Phase == bootstrapPhase {
					booted = &step
				}
				continue
			}
			host.Record(step, line)
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

// observe reports the status of the kubelet and of the container runtime, by the step that has ended.
func observe(host Host, step *plan.Step) {
	for _, reason := range host.Observe() {
		host.Report(events.Event{Step: step, State: events.Observed, Reason: reason})
	}
}

// try runs a step with its retries; it gives what is reported of it, and says with false that the system goes down:
// then no failure counts.
func try(host Host, step plan.Step, pause time.Duration) (end events.Event, ready bool) {
	host.Clear(step)
	if !host.Ready() {
		return end, false
	}
	host.Report(events.Event{Step: &step, State: events.Started})
	code := host.Execute(step)
	for left := step.Retries; code != 0 && left > 0; left-- {
		time.Sleep(pause)
		if !host.Ready() {
			return end, false
		}
		host.Report(events.Event{Step: &step, State: events.Retrying, Code: code})
		code = host.Execute(step)
	}
	end = outcome(step, code)
	if code == 0 {
		// What the step wrote is on the disk before the mark that says so.
		host.Sync()
		if host.Keep(step) != nil {
			end = outcome(step, exitNotKept)
			end.Reason = events.StateNotWritten
		}
	}
	host.Sync()
	return end, host.Ready()
}

// outcome gives the last event of a step; never output, never a value.
func outcome(step plan.Step, code int) events.Event {
	end := events.Event{Step: &step, State: events.Succeeded, Code: code}
	switch {
	case code == 0 && step.Flags.Reboot:
		end.State = events.Rebooting
	case code == 0:
	default:
		end.State, end.Reason = events.Failed, events.CommandFailed
		if step.Flags.GoOn {
			end.State = events.Tolerated
		}
		if code == exitTimedOut && step.Timeout > 0 {
			end.Reason = events.CommandTimedOut
		}
	}
	return end
}

func newLog(places Places, bundle string, console func([]byte) error) *events.Log {
	return &events.Log{Bundle: bundle, Path: places.Events, Console: console, Patience: consolePatience}
}
