package image

import (
	"os/exec"
	"strings"
)

const (
	system = "windows"
	// DefaultRoot is the running system.
	DefaultRoot = `C:\`
)

var checks = map[string]check{
	"MA-W01": func(image tree) (string, string) {
		if !image.has(`C:\Program Files\slipway\machineadm.exe`) {
			return "", "the image has no machineadm: it comes with the bootstrap"
		}
		return "", ""
	},
	"MA-W02": func(tree) (string, string) {
		var missing []string
		for _, name := range strings.Fields("powershell.exe icacls.exe schtasks.exe shutdown.exe taskkill.exe") {
			if _, err := exec.LookPath(name); err != nil {
				missing = append(missing, name)
			}
		}
		if len(missing) > 0 {
			return "not there: " + strings.Join(missing, ", "), ""
		}
		return "", ""
	},
	"MA-W03": func(image tree) (string, string) {
		for _, path := range []string{
			`C:\ProgramData\slipway\plan.json`, `C:\ProgramData\slipway\state`,
			`C:\run\cluster-api\bootstrap-success.complete`,
		} {
			if image.has(path) {
				return path + " is in the image", ""
			}
		}
		return "", ""
	},
}
