package executor

import (
	"os"

	"slipway.dev/machineadm/internal/plan"
)

// Places are the files and folders of a run. Steps of Windows are programs with arguments, so there is no folder of
// scripts to name.
type Places struct {
	Plan  string
	Steps string
	State string
	// Events is the file of events.
	Events string
}

const (
	root = `C:\ProgramData\slipway`
	logs = root + `\log`
	// SentinelPath is the file that says that the machine is complete.
	SentinelPath = `C:\run\cluster-api\bootstrap-success.complete`
)

// DefaultPlaces gives the places of the runner.
func DefaultPlaces() Places {
	return Places{Plan: root + `\plan.json`, Steps: root + `\steps`, State: root + `\state`, Events: root + `\events.jsonl`}
}

// Read reads the step data.
func (p Places) Read() (*plan.Plan, error) {
	text, err := os.ReadFile(p.Plan)
	if err != nil {
		return nil, err
	}
	return plan.ParseDocument(text)
}
