package executor

import (
	"os"

	"slipway.dev/machineadm/internal/plan"
)

// Places are the files and folders of a run.
type Places struct {
	Plan  string
	Steps string
	State string
	// Events is the file of events.
	Events string
}

// Where they are unless the caller says otherwise.
const (
	root     = "/var/lib/slipway"
	volatile = "/run/slipway"
	// SentinelPath is the file that says that the machine is complete.
	SentinelPath = "/run/cluster-api/bootstrap-success.complete"
	console      = "/dev/console"
)

// DefaultPlaces gives the places of the runner.
func DefaultPlaces() Places {
	return Places{Plan: root + "/plan", Steps: root + "/steps", State: root + "/state", Events: root + "/events.jsonl"}
}

// Read reads the step data.
func (p Places) Read() (*plan.Plan, error) {
	text, err := os.ReadFile(p.Plan)
	if err != nil {
		return nil, err
	}
	return plan.ParseText(text)
}
