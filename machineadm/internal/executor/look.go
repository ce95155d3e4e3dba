package executor

import "slipway.dev/machineadm/internal/plan"

// States of a step.
const (
	Done    = "done"
	Failed  = "failed"
	Waiting = "waiting"
)

// Seen is a step with its state.
type Seen struct {
	plan.Step
	State string
}

// Report is what a look at the state folder shows.
type Report struct {
	Bundle   string
	Steps    []Seen
	Sentinel bool
	Running  bool
}

// Look reads the state of each step; it takes no lock and changes nothing.
func Look(places Places, steps *plan.Plan) Report {
	host := newHost(places, steps.Bundle)
	report := Report{Bundle: steps.Bundle, Sentinel: exists(SentinelPath), Running: running()}
	for _, item := range steps.Items {
		if item.Sentinel {
			continue
		}
		state := Waiting
		switch {
		case host.Done(item.Step):
			state = Done
		case host.Final(item.Step):
			state = Failed
		}
		report.Steps = append(report.Steps, Seen{item.Step, state})
	}
	return report
}
