package image

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryClauseHasItsCheck(t *testing.T) {
	clauses := Clauses(system)
	if len(clauses) != len(checks) {
		t.Errorf("%d clauses, %d checks", len(clauses), len(checks))
	}
	for _, clause := range clauses {
		if checks[clause.ID] == nil || clause.Text == "" {
			t.Error(clause.ID)
		}
	}
}

// good makes an image that keeps every clause.
func good(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, folder := range []string{"usr/bin", "usr/local/bin", "usr/lib/systemd", "etc/systemd/system", "var/lib", "run"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, root, "usr/lib/systemd/systemd", "", 0o755)
	write(t, root, "usr/local/bin/machineadm", "", 0o755)
	write(t, root, "etc/machine-id", "uninitialized\n", 0o444)
	for _, name := range strings.Fields("dash " + needed) {
		write(t, root, "usr/bin/"+name, "", 0o755)
	}
	// As in an image with links that lead to the root of the machine, not of whoever looks.
	link(t, root, "/usr/bin", "bin")
	link(t, root, "/bin/dash", "usr/bin/sh")
	return root
}

func write(t *testing.T, root, path, text string, mode os.FileMode) {
	t.Helper()
	full := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(full)
	if err := os.WriteFile(full, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(full, mode); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, root, target, path string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(root, path)); err != nil {
		t.Fatal(err)
	}
}

func TestImages(t *testing.T) {
	for _, row := range []struct {
		clause string
		spoil  func(root string)
	}{
		{"", func(string) {}},
		{"MA-L01", func(root string) { write(t, root, "usr/local/bin/machineadm", "", 0o777) }},
		{"MA-L01", func(root string) { write(t, root, "usr/local/bin/machineadm", "", 0o644) }},
		{"MA-L02", func(root string) { _ = os.Remove(filepath.Join(root, "usr/bin/dash")) }},
		{"MA-L03", func(root string) { _ = os.Remove(filepath.Join(root, "usr/bin/timeout")) }},
		{"MA-L04", func(root string) { write(t, root, "usr/lib/systemd/system/slipway-x.service", "", 0o644) }},
		{"MA-L04", func(root string) { _ = os.Remove(filepath.Join(root, "usr/lib/systemd/systemd")) }},
		{"MA-L05", func(root string) { _ = os.Remove(filepath.Join(root, "etc/systemd/system")) }},
		{"MA-L06", func(root string) { _ = os.Remove(filepath.Join(root, "var/lib")) }},
		{"MA-L07", func(root string) { write(t, root, "run/slipway/reboot", "", 0o600) }},
		{"MA-L08", func(root string) { write(t, root, "var/lib/slipway/state/b/a", "", 0o600) }},
		{"MA-L08", func(root string) { write(t, root, "etc/kubernetes/kubelet.conf", "", 0o600) }},
		{"MA-L09", func(root string) { write(t, root, "etc/machine-id", strings.Repeat("a", 32), 0o444) }},
	} {
		root := good(t)
		row.spoil(root)
		for _, finding := range Check(root) {
			broken := finding.Level == Broken
			if broken != (finding.Clause == row.clause) {
				t.Errorf("%q: %+v", row.clause, finding)
			}
		}
	}
}

func TestALinkThatLeadsInACircleIsNotThere(t *testing.T) {
	root := t.TempDir()
	link(t, root, "b", "a")
	link(t, root, "/a", "b")
	link(t, root, "../../../../etc", "up")
	image := newTree(root)
	if image.has("/a") || image.has("/up/passwd") {
		t.Error("found")
	}
}
