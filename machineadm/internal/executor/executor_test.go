package executor

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"slipway.dev/machineadm/internal/plan"
)

// script is a host that writes down what is asked of it.
type script struct {
	calls []string
	codes []int
	full  bool
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

func line1(exit int) string {
	return fmt.Sprintf("record {\"slipway\":\"failed\",\"run\":\"b\",\"phase\":\"pre\",\"step\":\"a\",\"exit\":%d}\n", exit)
}

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
			[]string{"clear a", "ready", "execute a", "sync", "keep a", "sync", "ready", "sentinel"}},
		{"a reboot comes behind the mark", script{}, plan.Flags{Reboot: true}, 0, Complete,
			[]string{"clear a", "ready", "execute a", "sync", "keep a", "sync", "ready", "reboot"}},
		{"retries ask whether they may start", script{codes: []int{1, 2}}, plan.Flags{}, 1, NotComplete,
			[]string{"clear a", "ready", "execute a", "ready", "execute a", "sync", "ready", line1(2)}},
		{"what cannot be kept has failed", script{full: true}, plan.Flags{}, 0, NotComplete,
			[]string{"clear a", "ready", "execute a", "sync", "keep a", "sync", "ready", line1(74)}},
		{"goes on, with success", script{codes: []int{5}}, plan.Flags{GoOn: true}, 0, Complete,
			[]string{"clear a", "ready", "execute a", "sync", "ready", line1(5), "sentinel"}},
		{"goes on, without success", script{codes: []int{5}}, plan.Flags{NoSentinel: true}, 0, NotComplete,
			[]string{"clear a", "ready", "execute a", "sync", "ready", line1(5)}},
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
