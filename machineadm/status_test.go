package main

import (
	"testing"

	"slipway.dev/machineadm/internal/executor"
	"slipway.dev/machineadm/internal/plan"
)

func TestStateOfARun(t *testing.T) {
	step := func(state, letters string) executor.Seen {
		flags := plan.Flags{GoOn: letters == "c", NoSentinel: letters == "s"}
		return executor.Seen{Step: plan.Step{ID: "a", Phase: "pre", Flags: flags}, State: state}
	}
	for _, row := range []struct {
		says     string
		steps    []executor.Seen
		sentinel bool
		running  bool
		state    string
		code     int
	}{
		{"nothing done", []executor.Seen{step(executor.Waiting, "")}, false, false, "waiting", unknown},
		{"all done", []executor.Seen{step(executor.Done, "")}, true, false, "complete", ok},
		{"done, without the sentinel of this boot", []executor.Seen{step(executor.Done, "")}, false, false, "waiting", unknown},
		{"a failure stops", []executor.Seen{step(executor.Failed, ""), step(executor.Waiting, "")}, false, false, "failed", failed},
		{"a failure that counts for nothing", []executor.Seen{step(executor.Failed, "c")}, true, false, "complete", ok},
		{"goes on without success", []executor.Seen{step(executor.Failed, "s"), step(executor.Waiting, "")}, false, false, "waiting", unknown},
		{"went on without success", []executor.Seen{step(executor.Failed, "s"), step(executor.Done, "")}, false, false, "failed", failed},
		{"under way", []executor.Seen{step(executor.Done, ""), step(executor.Waiting, "")}, false, true, "running", unknown},
	} {
		told, code := summary(executor.Report{Steps: row.steps, Sentinel: row.sentinel, Running: row.running})
		if told.State != row.state || code != row.code {
			t.Errorf("%s: %s, %d", row.says, told.State, code)
		}
	}
}
