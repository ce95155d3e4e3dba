package main

import (
	"encoding/json"
	"fmt"
	"io"

	"slipway.dev/machineadm/internal/executor"
)

type stepStatus struct {
	ID    string `json:"id"`
	Phase string `json:"phase"`
	State string `json:"state"`
}

type runStatus struct {
	State    string       `json:"state"`
	Run      string       `json:"run"`
	Sentinel bool         `json:"sentinel"`
	Steps    []stepStatus `json:"steps"`
}

// status tells what stands in the state folder; it waits for nobody and changes nothing.
func status(arguments []string, out, err io.Writer) int {
	set := flags("status", err)
	places := placeFlags(set)
	asJSON := set.Bool("json", false, "print JSON")
	if !parse(set, arguments) {
		return misused
	}
	steps, problem := places.Read()
	if problem != nil {
		fmt.Fprintln(err, "machineadm:", problem)
		return failed
	}
	report := executor.Look(*places, steps)
	told, code := summary(report)
	if *asJSON {
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		if encoder.Encode(told) != nil {
			return failed
		}
		return code
	}
	fmt.Fprintf(out, "%s: %s\n", told.Run, told.State)
	for _, step := range told.Steps {
		fmt.Fprintf(out, "%s %s: %s\n", step.Phase, step.ID, step.State)
	}
	return code
}

// summary says how far the run is. What stops the run decides; what stands behind it waits in vain.
func summary(report executor.Report) (runStatus, int) {
	told := runStatus{Run: report.Bundle, Sentinel: report.Sentinel, Steps: []stepStatus{}}
	broken, stopped, waiting := false, false, false
	for _, step := range report.Steps {
		told.Steps = append(told.Steps, stepStatus{step.ID, step.Phase, step.State})
		switch {
		case stopped || step.State == executor.Done:
		case step.State == executor.Waiting:
			waiting = true
		case step.Flags.GoOn:
		default:
			broken, stopped = true, !step.Flags.NoSentinel
		}
	}
	switch {
	case !report.Running && broken && (stopped || !waiting):
		told.State = "failed"
		return told, failed
	case !report.Running && !waiting && report.Sentinel:
		told.State = "complete"
		return told, ok
	case report.Running:
		told.State = "running"
	default:
		told.State = "waiting"
	}
	return told, unknown
}
