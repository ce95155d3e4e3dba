package events

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"slipway.dev/machineadm/internal/plan"
)

func log(path string, console func([]byte) error) *Log {
	return &Log{Bundle: "b-1", Path: path, Console: console, Patience: time.Minute}
}

func members(t *testing.T, line []byte) map[string]any {
	t.Helper()
	got := map[string]any{}
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return got
}

func TestALineIsInTheFileAndOnTheConsole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	console := ""
	out := log(path, func(line []byte) error { console += string(line); return nil })
	step := &plan.Step{ID: "a", Phase: "pre"}
	first := out.Write(Event{Step: step, State: Failed, Code: 3, Reason: CommandFailed})
	second := out.Write(Event{State: Complete})
	text, err := os.ReadFile(path)
	if err != nil || string(text) != string(first)+string(second) || console != string(text) {
		t.Fatalf("%q, %q, %v", text, console, err)
	}
	if !strings.HasPrefix(console, `{"bundleId":"b-1","sequence":1,"time":"`) {
		t.Error(console)
	}
	got := members(t, first)
	for name, want := range map[string]any{
		"phase": "PHASE_PRE", "step": "a", "state": "EVENT_STATE_FAILED", "exitCode": 3.0, "reason": "CommandFailed",
		"executor": "EXECUTOR_MACHINEADM",
	} {
		if got[name] != want {
			t.Errorf("%s is %v", name, got[name])
		}
	}
	got = members(t, second)
	if got["sequence"] != 2.0 || got["step"] != nil || got["phase"] != nil || got["exitCode"] != nil {
		t.Error(got)
	}
	if facts, err := os.Stat(path); err != nil || facts.Mode().Perm() != 0o600 {
		t.Error(facts.Mode(), err)
	}
}

func TestWhatCannotBeWrittenIsGivenAllTheSame(t *testing.T) {
	calls := 0
	out := log(filepath.Join(t.TempDir(), "no", "folder"), func([]byte) error { calls++; return errors.New("broken") })
	for range 2 {
		if got := members(t, out.Write(Event{State: Complete})); got["sequence"] != 1.0 {
			t.Error(got)
		}
	}
	if calls != 2 {
		t.Error("a console that was broken once is tried again")
	}
}

func TestAConsoleThatTakesNothingHoldsNothingUp(t *testing.T) {
	never, calls := make(chan error), make(chan bool, 9)
	out := log(filepath.Join(t.TempDir(), "events.jsonl"), func([]byte) error { calls <- true; return <-never })
	out.Patience = time.Nanosecond
	out.Write(Event{State: Complete})
	<-calls
	out.Write(Event{State: Complete})
	if len(calls) != 0 {
		t.Error("the console was asked again")
	}
	if text, _ := os.ReadFile(out.Path); strings.Count(string(text), "\n") != 2 {
		t.Errorf("%q", text)
	}
}

func TestHostNameIsSafeInJSONOfTheShell(t *testing.T) {
	if got := hostname("no\"de-1\\.Ex\nämple"); got != "node-1.Exmple" {
		t.Error(got)
	}
}
