package executor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"slipway.dev/machineadm/internal/events"
	"slipway.dev/machineadm/internal/plan"
)

// script is a host that writes down what is asked of it.
type script struct {
	calls []string
	codes []int
	full  bool
	// observed is what is reported of the kubelet and of the container runtime.
	observed []string
}

func (s *script) call(name string, step plan.Step) { s.calls = append(s.calls, name+" "+step.ID) }

func (s *script) Ready() bool          { s.calls = append(s.calls, "ready"); return true }
func (s *script) Done(plan.Step) bool  { return false }
func (s *script) Final(plan.Step) bool { return false }
func (s *script) Clear(step plan.Step) { s.call("clear", step) }
func (s *script) Sync()                { s.calls = append(s.calls, "sync") }
func (s *script) Sentinel() error      { s.calls = append(s.calls, "sentinel"); return nil }
func (s *script) Reboot() int          { s.calls = append(s.calls, "reboot"); return 0 }
func (s *script) Keep(step plan.Step) error {
	s.call("keep", step)
	if s.full {
		return errors.New("no room")
	}
	return nil
}

func (s *script) Report(event events.Event) []byte {
	told := fmt.Sprintf("%s %d %s", event.State, event.Code, event.Reason)
	s.calls = append(s.calls, told)
	return []byte(told)
}

func (s *script) Observe() []string { return s.observed }

func (s *script) Record(step plan.Step, line []byte) {
	s.calls = append(s.calls, fmt.Sprintf("record %s", line))
}

func (s *script) Execute(step plan.Step) int {
	s.call("execute", step)
	code := 0
	if len(s.codes) > 0 {
		code, s.codes = s.codes[0], s.codes[1:]
	}
	return code
}

const started, succeeded, complete = "STARTED 0 ", "SUCCEEDED 0 ", "COMPLETE 0 "

func TestOrder(t *testing.T) {
	step := plan.Step{ID: "a", Phase: "pre"}
	for _, row := range []struct {
		says  string
		host  script
		flags plan.Flags
		tries int
		code  int
		calls []string
	}{
		{"the step is on the disk before its mark", script{}, plan.Flags{}, 0, Complete,
			[]string{"clear a", "ready", started, "execute a", "sync", "keep a", "sync", "ready", succeeded, "sentinel", complete}},
		{"a reboot comes behind the mark", script{}, plan.Flags{Reboot: true}, 0, Complete,
			[]string{"clear a", "ready", started, "execute a", "sync", "keep a", "sync", "ready", "REBOOTING 0 ", "reboot"}},
		{"retries ask whether they may start", script{codes: []int{1, 2}}, plan.Flags{}, 1, NotComplete,
			[]string{"clear a", "ready", started, "execute a", "ready", "RETRYING 1 ", "execute a", "sync", "ready",
				"FAILED 2 CommandFailed", "record FAILED 2 CommandFailed"}},
		{"what cannot be kept has failed", script{full: true}, plan.Flags{}, 0, NotComplete,
			[]string{"clear a", "ready", started, "execute a", "sync", "keep a", "sync", "ready",
				"FAILED 74 StateNotWritten", "record FAILED 74 StateNotWritten"}},
		{"goes on, with success", script{codes: []int{5}}, plan.Flags{GoOn: true}, 0, Complete,
			[]string{"clear a", "ready", started, "execute a", "sync", "ready", "TOLERATED 5 CommandFailed",
				"record TOLERATED 5 CommandFailed", "sentinel", complete}},
		{"goes on, without success", script{codes: []int{5}}, plan.Flags{NoSentinel: true}, 0, NotComplete,
			[]string{"clear a", "ready", started, "execute a", "sync", "ready", "FAILED 5 CommandFailed",
				"record FAILED 5 CommandFailed"}},
	} {
		step.Flags, step.Retries = row.flags, row.tries
		steps := &plan.Plan{Bundle: "b", Items: []plan.Item{{Step: step}, {Sentinel: true}}}
		if code := Run(&row.host, steps, 0); code != row.code || !slices.Equal(row.host.calls, row.calls) {
			t.Errorf("%s: %d %q", row.says, code, row.host.calls)
		}
	}
	if Run(&script{}, &plan.Plan{Bundle: "b", Items: []plan.Item{{Step: plan.Step{ID: "a", Phase: "pre"}}}}, 0) != NotComplete {
		t.Error("success without the place of the sentinel")
	}
}

func TestStatus(t *testing.T) {
	item := func(id, phase string) plan.Item { return plan.Item{Step: plan.Step{ID: id, Phase: phase}} }
	items := []plan.Item{item("a", "pre"), item("b", "bootstrap"), item("c", "bootstrap"), item("d", "post"), {Sentinel: true}}
	const healthy, down = "OBSERVED 0 KubeletHealthy", "OBSERVED 0 KubeletNotHealthy"
	for _, row := range []struct {
		says     string
		host     script
		items    []plan.Item
		reported []string
	}{
		{"behind the last step of the phase", script{observed: []string{healthy[11:]}}, items,
			[]string{started, succeeded, started, succeeded, started, succeeded, healthy, started, succeeded, complete}},
		{"before success", script{observed: []string{healthy[11:]}}, []plan.Item{items[1], items[4]},
			[]string{started, succeeded, healthy, complete}},
		{"before a failure, once", script{codes: []int{0, 0, 3}, observed: []string{down[11:]}}, items,
			[]string{started, succeeded, started, succeeded, started, down, "FAILED 3 CommandFailed"}},
		{"nothing where there is none", script{}, []plan.Item{items[1], items[4]}, []string{started, succeeded, complete}},
	} {
		Run(&row.host, &plan.Plan{Bundle: "b", Items: row.items}, 0)
		var reported []string
		for _, call := range row.host.calls {
			if strings.ToUpper(call[:2]) == call[:2] {
				reported = append(reported, call)
			}
		}
		if !slices.Equal(reported, row.reported) {
			t.Errorf("%s: %q", row.says, reported)
		}
	}
}

func TestReasons(t *testing.T) {
	limited := plan.Step{ID: "a", Phase: "pre", Timeout: time.Second}
	for _, row := range []struct {
		says   string
		step   plan.Step
		code   int
		reason string
	}{
		{"done", limited, 0, ""},
		{"ended by its time limit", limited, 124, events.CommandTimedOut},
		{"the same code without a limit is the step's own", plan.Step{}, 124, events.CommandFailed},
		{"any other code", limited, 74, events.CommandFailed},
	} {
		if end := outcome(row.step, row.code); end.Reason != row.reason || end.Code != row.code {
			t.Errorf("%s: %+v", row.says, end)
		}
	}
}
