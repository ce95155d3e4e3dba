package preflight

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRoom(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "not", "yet", "there")
	if got := room(missing, 1); got.Reason != "" {
		t.Error(got)
	}
	if got := room(missing, 1<<62); got.Reason != DiskFull {
		t.Error(got)
	}
	if got := room("/proc", 0); got.Reason != "" {
		t.Error(got)
	}
}

func TestCgroups(t *testing.T) {
	for says, row := range map[string]struct {
		second, first string
		reason        Reason
	}{
		"the second version":       {"cpuset cpu io memory pids\n", "", ""},
		"without memory":           {"cpu pids\n", "", KernelNotSuitable},
		"the first version":        {"", "#name hierarchy num enabled\ncpu 1 1 1\nmemory 2 1 1\npids 3 1 1\n", CgroupVersionOneRefused},
		"the first, memory off":    {"", "cpu 1 1 1\nmemory 2 1 0\npids 3 1 1\n", KernelNotSuitable},
		"no cgroups in the kernel": {"", "", KernelNotSuitable},
	} {
		folder := t.TempDir()
		table := filepath.Join(folder, "cgroups")
		if row.second != "" {
			if err := os.WriteFile(filepath.Join(folder, "cgroup.controllers"), []byte(row.second), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(table, []byte(row.first), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := cgroupsAt(folder, table); got.Reason != row.reason {
			t.Errorf("%s: %+v", says, got)
		}
	}
}
