package preflight

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/windows"
)

// DefaultFolder is where most of a node's data is.
const DefaultFolder = `C:\`

func init() {
	older = nil
	sockets = []string{`\\.\pipe\containerd-containerd`}
}

func room(folder string, least uint64) Outcome {
	const check = "disk"
	name, err := windows.UTF16PtrFromString(folder)
	if err != nil {
		return bad(check, ReadOnlyFileSystem, "the folder has no usable name")
	}
	var free uint64
	if windows.GetDiskFreeSpaceEx(name, &free, nil, nil) != nil {
		return bad(check, ReadOnlyFileSystem, folder+" cannot be read")
	}
	if free < least {
		return bad(check, DiskFull, fmt.Sprintf("%s has %d MiB of room, and must have %d", folder, free>>20, least>>20))
	}
	return good(check)
}

func cgroups() Outcome { return skipped("cgroups", "Windows has none") }

func answers(path string) bool {
	path = strings.ReplaceAll(strings.TrimPrefix(path, "npipe://"), "/", `\`)
	pipe, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	_ = pipe.Close()
	return true
}
