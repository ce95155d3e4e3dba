package plan

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestTextIsReadAsTheShellReadsIt(t *testing.T) {
	got, err := ParseText([]byte("b-1\na prepare\nb pre rx 3 7\nc bootstrap - 2\n-\nd post s\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got.Bundle != "b-1" || len(got.Items) != 5 || !got.Items[3].Sentinel {
		t.Fatalf("%+v", got)
	}
	b, c, d := got.Items[1].Step, got.Items[2].Step, got.Items[4].Step
	if b.Flags.Letters() != "rx" || b.Retries != 3 || b.Timeout != 7*time.Second {
		t.Errorf("%+v", b)
	}
	if c.Retries != 2 || c.Flags != (Flags{}) || d.Flags.Letters() != "s" {
		t.Errorf("%+v %+v", c, d)
	}
}

func TestALineThatWasCutOffDoesNotCount(t *testing.T) {
	got, err := ParseText([]byte("b\na pre\n-"))
	if err != nil || len(got.Items) != 1 {
		t.Fatalf("%+v %v", got, err)
	}
}

func TestWhatIsNoStepDataIsRefusedWithoutItsText(t *testing.T) {
	for _, text := range []string{
		"", "b", "../x\n", "b\n../../x pre\n", "b\nsecret-a other\n", "b\na pre q\n", "b\na pre r secret\n",
		"b\na pre r -1\n", "b\na pre - 1 2 3\n", "b\na pre\na post\n", "b\n\n", "b\nA pre\n", "b\na pre - 9999999999999\n",
	} {
		if got, err := ParseText([]byte(text)); err == nil {
			t.Errorf("%q: %+v", text, got)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: quoted in %v", text, err)
		}
	}
}

func TestDocumentOfWindows(t *testing.T) {
	got, err := ParseDocument([]byte(`{"id":"b","steps":[{"id":"a","phase":"pre","program":"cmd.exe","arguments":"/c x",` +
		`"timeout":5,"retries":1,"flags":"b"},{"sentinel":true}]}`))
	if err != nil {
		t.Fatal(err)
	}
	step := got.Items[0].Step
	if step.Program != "cmd.exe" || step.Arguments != "/c x" || step.Timeout != 5*time.Second || !step.Flags.RetryOnBoot {
		t.Errorf("%+v", step)
	}
	for _, text := range []string{"", "[]", `{"id":"b","steps":[{"id":"a","phase":"pre"}]}`, `{"id":"b","more":1}`} {
		if _, err := ParseDocument([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

// TestDocumentThatWasLowered reads what the bootstrapper has made of a plan for Windows; its own tests name the file.
func TestDocumentThatWasLowered(t *testing.T) {
	path := os.Getenv("SLIPWAY_LOWERED_PLAN")
	if path == "" {
		t.Skip("no document was named")
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseDocument(text)
	if err != nil {
		t.Fatal(err)
	}
	told := got.Bundle
	for _, item := range got.Items {
		step := item.Step
		if item.Sentinel {
			told += "|-"
			continue
		}
		told += fmt.Sprintf("|%s %s %s %d %s", step.ID, step.Phase, step.Flags.Letters(), step.Retries, step.Timeout)
		if step.Program == "" {
			t.Error(step.ID)
		}
	}
	if told != os.Getenv("SLIPWAY_LOWERED_STEPS") {
		t.Error(told)
	}
}
