package main

import (
	"flag"
	"fmt"
	"io"

	"slipway.dev/machineadm/internal/executor"
	"slipway.dev/machineadm/internal/plan"
)

// placeFlags adds the flags of all commands that read the step data.
func placeFlags(set *flag.FlagSet) *executor.Places {
	places := executor.DefaultPlaces()
	set.StringVar(&places.Plan, "plan", places.Plan, "the manifest of the steps")
	set.StringVar(&places.Steps, "steps", places.Steps, "the folder of the steps' scripts")
	set.StringVar(&places.State, "state", places.State, "the folder of the state")
	set.StringVar(&places.Events, "events", places.Events, "the file of the events")
	return &places
}

func run(arguments []string, out, err io.Writer) int {
	set := flags("run", err)
	places := placeFlags(set)
	pause := set.Duration("retry-pause", executor.Pause, "the time between two tries of a step")
	dry := set.Bool("dry-run", false, "print what would run, and change nothing")
	if !parse(set, arguments) {
		return misused
	}
	if *dry {
		return dryRun(*places, out, err)
	}
	code, problem := executor.Start(*places, *pause)
	if problem != nil {
		fmt.Fprintln(err, "machineadm:", problem)
	}
	return code
}

func dryRun(places executor.Places, out, err io.Writer) int {
	steps, problem := places.Read()
	if problem != nil {
		fmt.Fprintln(err, "machineadm:", problem)
		return failed
	}
	for _, one := range executor.Look(places, steps).Steps {
		doing := "would run"
		if one.State != executor.Waiting {
			doing = one.State
		}
		fmt.Fprintf(out, "%s %s: %s%s\n", one.Phase, one.ID, doing, details(one.Step))
	}
	return ok
}

func details(step plan.Step) string {
	text := ""
	if step.Timeout > 0 {
		text += fmt.Sprintf(", at most %s", step.Timeout)
	}
	if step.Retries > 0 {
		text += fmt.Sprintf(", up to %d tries", step.Retries+1)
	}
	for _, one := range []struct {
		set  bool
		text string
	}{
		{step.Flags.Reboot, "then the machine reboots"},
		{step.Flags.Redact, "output is not kept"},
		{step.Flags.RetryOnBoot, "the next boot tries again"},
		{step.Flags.GoOn, "goes on after a failure"},
		{step.Flags.NoSentinel, "goes on after a failure, without success"},
	} {
		if one.set {
			text += ", " + one.text
		}
	}
	return text
}
