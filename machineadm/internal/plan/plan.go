// Package plan reads the step data of a machine: what the runners of POSIX shell and of PowerShell read, too.
package plan

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Format is the version of the step data that this program reads.
const Format = 1

// Plan is the step data of one bundle.
type Plan struct {
	Bundle string
	Items  []Item
}

// Item is a step, or the place where the success sentinel is due.
type Item struct {
	Sentinel bool
	Step     Step
}

// Step is one step; a step of Linux is a script with its ID as name, one of Windows is a program with arguments.
type Step struct {
	ID        string
	Phase     string
	Flags     Flags
	Retries   int
	Timeout   time.Duration
	Program   string
	Arguments string
}

// Flags are the letters of a step.
type Flags struct {
	Reboot      bool // r: the machine reboots after the step
	Redact      bool // x: its output is kept nowhere
	RetryOnBoot bool // b: a failure is final for one boot only
	GoOn        bool // c: what follows runs after a failure
	NoSentinel  bool // s: as GoOn, but without the sentinel
}

var (
	bundleID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$`)
	stepID   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	phases   = map[string]bool{"prepare": true, "pre": true, "bootstrap": true, "post": true}
)

// Most is the largest number of retries, and of seconds of a timeout, that step data may hold.
const Most = 1 << 30

func (p *Plan) check() error {
	if !bundleID.MatchString(p.Bundle) {
		return errors.New("the step data has no usable bundle id")
	}
	seen := map[string]bool{}
	for at, item := range p.Items {
		step := item.Step
		switch {
		case item.Sentinel:
		case !stepID.MatchString(step.ID):
			return fmt.Errorf("item %d: the step's id must be of lower-case letters, digits and dashes", at+1)
		case seen[step.ID]:
			return fmt.Errorf("item %d: the step's id is used twice", at+1)
		case !phases[step.Phase]:
			return fmt.Errorf("item %d: the step's phase is not known", at+1)
		case step.Retries < 0 || step.Retries > Most || step.Timeout < 0 || step.Timeout > Most*time.Second:
			return fmt.Errorf("item %d: retries and timeout must be whole numbers up to %d", at+1, Most)
		}
		seen[step.ID] = true
	}
	return nil
}

func parseFlags(letters string) (Flags, error) {
	var flags Flags
	for _, letter := range letters {
		field := map[rune]*bool{
			'r': &flags.Reboot, 'x': &flags.Redact, 'b': &flags.RetryOnBoot, 'c': &flags.GoOn, 's': &flags.NoSentinel,
		}[letter]
		if field == nil {
			return flags, errors.New("a flag is not known; the step data is of a later version")
		}
		*field = true
	}
	return flags, nil
}

// Letters gives the flags as they stand in the step data.
func (f Flags) Letters() string {
	var letters strings.Builder
	for _, flag := range []struct {
		letter string
		set    bool
	}{{"r", f.Reboot}, {"x", f.Redact}, {"b", f.RetryOnBoot}, {"c", f.GoOn}, {"s", f.NoSentinel}} {
		if flag.set {
			letters.WriteString(flag.letter)
		}
	}
	return letters.String()
}
