package image

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	system = "linux"
	// DefaultRoot is the running system.
	DefaultRoot = "/"

	notRunning = "can be checked on a running machine only"
)

var checks = map[string]check{
	"MA-L01": program,
	"MA-L02": func(image tree) (string, string) { return executable(image, "/bin/sh"), "" },
	"MA-L03": programs,
	"MA-L04": units,
	"MA-L05": func(image tree) (string, string) { return writable(image, "/etc/systemd/system") },
	"MA-L06": func(image tree) (string, string) { return persistent(image, "/var/lib") },
	"MA-L07": volatile,
	"MA-L08": untouched,
	"MA-L09": machineID,
	"MA-L10": processes,
}

const needed = "base64 cat chmod chown cp date ln mkdir mv readlink reboot rm sha256sum sha512sum sleep sync systemctl " +
	"tail tee timeout tr uname wc"

var folders = []string{"/usr/sbin", "/usr/bin", "/sbin", "/bin", "/opt/bin"}

func program(image tree) (wrong, skipped string) {
	path := image.first("/usr/local/bin/machineadm", "/opt/bin/machineadm", "/usr/bin/machineadm")
	if path == "" {
		return "", "the image has no machineadm: it comes with the bootstrap"
	}
	if wrong := executable(image, path); wrong != "" {
		return wrong, ""
	}
	info, err := os.Stat(image.find(path))
	if err != nil {
		return path + " cannot be read", ""
	}
	owner, known := info.Sys().(*syscall.Stat_t)
	if info.Mode().Perm()&0o022 != 0 || (known && owner.Uid != 0) {
		return path + " is writable by users other than root", ""
	}
	return "", ""
}

func executable(image tree, path string) string {
	info, err := os.Stat(image.find(path))
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o100 == 0 {
		return path + " is no program"
	}
	return ""
}

func programs(image tree) (wrong, skipped string) {
	var missing []string
	for _, name := range strings.Fields(needed) {
		there := false
		for _, folder := range folders {
			there = there || executable(image, folder+"/"+name) == ""
		}
		if !there {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return "not there: " + strings.Join(missing, ", "), ""
	}
	return "", ""
}

func units(image tree) (wrong, skipped string) {
	if image.first("/usr/lib/systemd/systemd", "/lib/systemd/systemd") == "" {
		return "systemd is not there", ""
	}
	if image.live {
		// The units of a machine that is being bootstrapped are not the image's.
		return "", ""
	}
	for _, folder := range []string{"/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system"} {
		for _, name := range image.names(folder) {
			if strings.HasPrefix(name, "slipway-") {
				return folder + "/" + name + " is a unit of the image", ""
			}
		}
	}
	return "", ""
}

func writable(image tree, folder string) (wrong, skipped string) {
	found := image.find(folder)
	if found == "" {
		return folder + " is not there", ""
	}
	if !image.live {
		return "", ""
	}
	var status unix.Statfs_t
	if unix.Statfs(found, &status) != nil || status.Flags&unix.ST_RDONLY != 0 {
		return folder + " is on a file system that is read-only", ""
	}
	return "", ""
}

func persistent(image tree, folder string) (wrong, skipped string) {
	if wrong, skipped := writable(image, folder); wrong != "" || skipped != "" {
		return wrong, skipped
	}
	if image.live && inMemory(folder) {
		return folder + " is in memory", ""
	}
	return "", ""
}

func inMemory(folder string) bool {
	var status unix.Statfs_t
	if unix.Statfs(folder, &status) != nil {
		return false
	}
	return status.Type == unix.TMPFS_MAGIC || status.Type == unix.RAMFS_MAGIC
}

func volatile(image tree) (wrong, skipped string) {
	switch {
	case !image.has("/run"):
		return "/run is not there", ""
	case image.live && !inMemory("/run"):
		return "/run is not in memory", ""
	case !image.live && image.has("/run/slipway"):
		return "/run/slipway is in the image", ""
	}
	return "", ""
}

func untouched(image tree) (wrong, skipped string) {
	if image.live {
		return "", "can be checked on an image only: --root"
	}
	for _, path := range []string{
		"/var/lib/slipway/plan", "/var/lib/slipway/steps", "/var/lib/slipway/state",
		"/run/cluster-api/bootstrap-success.complete",
		"/etc/kubernetes/kubelet.conf", "/etc/kubernetes/bootstrap-kubelet.conf",
	} {
		if image.has(path) {
			return path + " is in the image", ""
		}
	}
	return "", ""
}

func machineID(image tree) (wrong, skipped string) {
	if image.live {
		return "", "can be checked on an image only: --root"
	}
	found := image.find("/etc/machine-id")
	if found == "" {
		return "", ""
	}
	text, err := os.ReadFile(found)
	if word := strings.TrimSpace(string(text)); err != nil || (word != "" && word != "uninitialized") {
		return "/etc/machine-id holds an id", ""
	}
	return "", ""
}

func processes(image tree) (wrong, skipped string) {
	if !image.live {
		return "", notRunning
	}
	if !image.has("/proc/self/stat") {
		return "/proc is not mounted", ""
	}
	return "", ""
}
