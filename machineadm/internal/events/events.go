// Package events writes the events of a bootstrap as the runners do: one line of JSON each, BootstrapEvent of the
// contract, to a file of the machine and to its serial console. What cannot be written changes nothing.
package events

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"time"

	"slipway.dev/machineadm/internal/plan"
)

// State is what happened; the values are those of EventState in the contract.
type State string

// States of an event.
const (
	Started   State = "STARTED"
	Retrying  State = "RETRYING"
	Succeeded State = "SUCCEEDED"
	Rebooting State = "REBOOTING"
	Failed    State = "FAILED"
	Tolerated State = "TOLERATED"
	Complete  State = "COMPLETE"
	Observed  State = "OBSERVED"
)

// Reasons of a failure.
const (
	CommandFailed   = "CommandFailed"
	CommandTimedOut = "CommandTimedOut"
	StateNotWritten = "StateNotWritten"
)

// What is observed.
const (
	KubeletHealthy             = "KubeletHealthy"
	KubeletNotHealthy          = "KubeletNotHealthy"
	ContainerRuntimeRunning    = "ContainerRuntimeRunning"
	ContainerRuntimeNotRunning = "ContainerRuntimeNotRunning"
)

// Event is what the executor says; the log adds the rest.
type Event struct {
	Step   *plan.Step // nil for the whole bootstrap
	State  State
	Code   int
	Reason string
}

// Log is the file and the serial console of one machine.
type Log struct {
	Bundle  string
	Path    string
	Console func(line []byte) error
	// Patience is how long the console may take for a line. A console that takes longer gets no further one.
	Patience time.Duration

	silent bool
}

var errTimeout = errors.New("the console takes no line")

// Write gives the line of an event, with its end, after it has written it.
func (l *Log) Write(event Event) []byte {
	line := l.line(event)
	_ = appendTo(l.Path, line)
	if !l.silent && errors.Is(l.send(line), errTimeout) {
		l.silent = true
	}
	return line
}

func (l *Log) send(line []byte) error {
	sent := make(chan error, 1)
	go func() { sent <- l.Console(line) }()
	select {
	case err := <-sent:
		return err
	case <-time.After(l.Patience):
		return errTimeout
	}
}

func (l *Log) line(event Event) []byte {
	name, _ := os.Hostname()
	// The order of the members is that of the runners; the first one is what readers look for.
	record := struct {
		BundleID string `json:"bundleId"`
		Sequence int    `json:"sequence"`
		Time     string `json:"time"`
		Hostname string `json:"hostname"`
		Executor string `json:"executor"`
		Phase    string `json:"phase,omitempty"`
		Step     string `json:"step,omitempty"`
		State    string `json:"state"`
		ExitCode int32  `json:"exitCode,omitempty"`
		Reason   string `json:"reason,omitempty"`
	}{
		BundleID: l.Bundle,
		Sequence: l.lines() + 1,
		Time:     time.Now().UTC().Format("2006-01-02T15:04:05Z"),
		Hostname: hostname(name),
		Executor: "EXECUTOR_MACHINEADM",
		State:    "EVENT_STATE_" + string(event.State),
		ExitCode: int32(event.Code), // of Windows, where it has 32 bits and may be negative
		Reason:   event.Reason,
	}
	if event.Step != nil {
		record.Phase, record.Step = "PHASE_"+strings.ToUpper(event.Step.Phase), event.Step.ID
	}
	text, err := json.Marshal(record)
	if err != nil {
		return []byte("{}\n")
	}
	return append(text, '\n')
}

func (l *Log) lines() int {
	text, err := os.ReadFile(l.Path)
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte("\n"))
}

// hostname leaves out what no host name has: a kernel takes any bytes.
func hostname(name string) string {
	return strings.Map(func(letter rune) rune {
		switch {
		case letter >= 'a' && letter <= 'z', letter >= 'A' && letter <= 'Z', letter >= '0' && letter <= '9',
			letter == '.', letter == '-':
			return letter
		}
		return -1
	}, name)
}

func appendTo(path string, line []byte) error {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	return errors.Join(err, file.Close())
}
