"""Programs for a Windows machine of tests: machineadm.exe itself, and what stands in for programs that Wine lacks.

Wine's powershell.exe prints nothing, and its schtasks.exe and shutdown.exe do little. The source of the fakes is text
in a Python file: one in a file of its own would affect the suites of everything.
"""

from pathlib import Path

from tools.oracles import machineadm

PLATFORM = "windows/amd64"
FAKES = ("powershell", "shutdown", "schtasks", "witness", "shout", "linger")
"""The names of the one fake. `witness` writes its arguments down, `shout` prints them to both streams, `linger` and its
child never end."""

_MODULE = "module slipway.dev/fakes\n\ngo 1.25.0\n"
_SOURCE = r"""
// Command fakes is what its file is called.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

const drive = `C:\`

func main() {
	program, _ := os.Executable()
	switch name := strings.TrimSuffix(filepath.Base(program), ".exe"); name {
	case "powershell":
		answer(strings.Join(os.Args[1:], " "))
	case "witness":
		words, _ := json.Marshal(os.Args[1:])
		add("arguments", string(words))
	case "shout":
		fmt.Println(os.Args[1:])
		fmt.Fprintln(os.Stderr, os.Args[1:])
	case "linger":
		if len(os.Args) == 1 {
			_ = exec.Command(program, "child").Start()
		}
		never()
	default:
		add("calls", strings.Join(append([]string{name}, os.Args[1:]...), " "))
	}
}

// answer is what machineadm asks PowerShell: the number of the boot, or whether the system goes down.
func answer(question string) {
	if strings.Contains(question, "Win32_OperatingSystem") {
		fmt.Print(read("boot"))
		return
	}
	add("asked", "")
	goingDown := read("going-down") != ""
	if goingDown {
		fmt.Println("down")
	}
	if goingDown || read("cut-at") == fmt.Sprint(strings.Count(read("asked"), "\n")) {
		add("cut", "")
		if !goingDown {
			never()
		}
	}
}

func never() {
	for {
		time.Sleep(time.Hour)
	}
}

func read(name string) string {
	text, _ := os.ReadFile(drive + name)
	return string(text)
}

func add(name, line string) {
	file, err := os.OpenFile(drive+name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(1)
	}
	_, _ = file.WriteString(line + "\n")
	_ = file.Close()
}
"""


def compile_programs(folder: Path) -> dict[str, Path]:
    """Compile everything; give each program by its name.

    Raises:
        EngineMissing, EngineBroken: as machineadm.compile_for().
    """
    source = folder / "source"
    source.mkdir(parents=True)
    (source / "go.mod").write_text(_MODULE)
    (source / "main.go").write_text(_SOURCE)
    fake, agent = folder / "fake.exe", folder / "machineadm.exe"
    machineadm.compile_for(PLATFORM, fake, source=source)
    machineadm.compile_for(PLATFORM, agent)
    return {"machineadm": agent, **dict.fromkeys(FAKES, fake)}
