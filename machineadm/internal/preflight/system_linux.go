package preflight

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// DefaultFolder is where most of a node's data is.
const DefaultFolder = "/var/lib"

func room(folder string, least uint64) Outcome {
	const check = "disk"
	var found unix.Statfs_t
	for {
		err := unix.Statfs(folder, &found)
		if err == nil {
			break
		}
		if !errors.Is(err, unix.ENOENT) || folder == "/" {
			return bad(check, ReadOnlyFileSystem, folder+" cannot be read")
		}
		folder = filepath.Dir(folder)
	}
	free := found.Bavail * uint64(found.Bsize)
	switch {
	case found.Flags&unix.ST_RDONLY != 0:
		return bad(check, ReadOnlyFileSystem, folder+" is on a file system that is read-only")
	case free < least:
		return bad(check, DiskFull, fmt.Sprintf("%s has %d MiB of room, and must have %d", folder, free>>20, least>>20))
	case found.Files > 0 && found.Ffree == 0:
		return bad(check, DiskFull, folder+" has no inode left")
	}
	return good(check)
}

// Controllers without which no kubelet starts.
var controllers = []string{"cpu", "memory", "pids"}

func cgroups() Outcome { return cgroupsAt("/sys/fs/cgroup", "/proc/cgroups") }

func cgroupsAt(folder, table string) Outcome {
	const check = "cgroups"
	text, err := os.ReadFile(filepath.Join(folder, "cgroup.controllers"))
	second := err == nil
	if !second {
		// Of the first version: a line "name hierarchy cgroups enabled" for each controller.
		text = enabled(table)
	}
	words := strings.Fields(string(text))
	for _, one := range controllers {
		if !contains(words, one) {
			return bad(check, KernelNotSuitable, "the cgroup controller "+one+" is not there")
		}
	}
	if !second {
		return warn(check, CgroupVersionOneRefused, "the machine uses cgroup v1")
	}
	return good(check)
}

func enabled(table string) []byte {
	text, err := os.ReadFile(table)
	if err != nil {
		return nil
	}
	var names []string
	for _, line := range strings.Split(string(text), "\n") {
		if words := strings.Fields(line); len(words) == 4 && words[3] == "1" {
			names = append(names, words[0])
		}
	}
	return []byte(strings.Join(names, " "))
}

func contains(words []string, word string) bool {
	for _, one := range words {
		if one == word {
			return true
		}
	}
	return false
}

func answers(path string) bool {
	connection, err := net.DialTimeout("unix", path, 5*time.Second)
	if err != nil {
		return false
	}
	_ = connection.Close()
	return true
}
