package main

import (
	"fmt"
	"io"
	"strconv"
	"time"

	"slipway.dev/machineadm/internal/plan"
	"slipway.dev/machineadm/internal/supervise"
)

// systemCommands are those of Linux only.
func systemCommands() map[string]command {
	return map[string]command{"supervise": superviseStep}
}

// superviseStep is how this program starts itself for a step that has a timeout: the process of its own is what
// orphans of the step are given to, and nobody else's.
func superviseStep(arguments []string, _, err io.Writer) int {
	if len(arguments) < 2 {
		return misused
	}
	seconds, problem := strconv.Atoi(arguments[0])
	if problem != nil || seconds <= 0 || seconds > plan.Most {
		fmt.Fprintln(err, "machineadm: the limit is no number of seconds")
		return misused
	}
	return supervise.Run(time.Duration(seconds)*time.Second, arguments[1:])
}
