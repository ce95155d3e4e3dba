package executor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/windows"

	"slipway.dev/machineadm/internal/events"
	"slipway.dev/machineadm/internal/plan"
	"slipway.dev/machineadm/internal/supervise"
)

const tailBytes = 4096

// What the runner asks Windows, in the runner's words, so that both get the same answer: the number of this boot, and
// whether the last word of the system's log is an ordered shutdown.
const (
	askBoot = `(Get-CimInstance -ClassName Win32_OperatingSystem).LastBootUpTime.ToUniversalTime().Ticks.ToString()`
	askDown = `$l = Get-WinEvent -FilterHashtable @{LogName='System';Id=@(1074,1075,6005)} | ` +
		`Where-Object -Property ProviderName -In -Value @('User32','EventLog') | Select-Object -First 1; ` +
		`if ($l.Id -eq 1074) { 'down' }`
)

type windowsHost struct {
	places Places
	bundle string
	boot   string
	log    *events.Log
}

func newHost(places Places, bundle string) Host {
	return &windowsHost{places, bundle, powershell(askBoot), newLog(places, bundle, send)}
}

// Start runs the plan of these places on this machine; it gives the exit code.
func Start(places Places, pause time.Duration) (int, error) {
	release, err := lock()
	if err != nil {
		return NotComplete, err
	}
	defer release()
	if err := os.MkdirAll(root, 0o700); err != nil {
		return NotComplete, err
	}
	if err := protect(root); err != nil {
		return NotComplete, fmt.Errorf("the rights of %s cannot be set: %w", root, err)
	}
	steps, err := places.Read()
	if err != nil {
		return NotComplete, err
	}
	host := &windowsHost{places, steps.Bundle, powershell(askBoot), newLog(places, steps.Bundle, send)}
	if host.boot == "" {
		return NotComplete, errors.New("the time of the last boot cannot be read")
	}
	for _, folder := range []string{filepath.Join(places.State, steps.Bundle), logs} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return NotComplete, err
		}
	}
	// Between the order to reboot and the end of the system nothing more may start.
	if holds(root+`\reboot`, host.boot) {
		return Complete, nil
	}
	return Run(host, steps, pause), nil
}

// protect lets only Administrators and SYSTEM look into a folder that holds secrets. Another program that looks at the
// folder just then, as scanners do at a boot, makes icacls fail: it is tried again.
func protect(folder string) (err error) {
	rights := []string{"/inheritance:r", "/grant:r", "*S-1-5-32-544:(OI)(CI)F", "*S-1-5-18:(OI)(CI)F"}
	for range 3 {
		if err = exec.Command("icacls.exe", append([]string{folder}, rights...)...).Run(); err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

func lock() (release func(), err error) {
	name, err := windows.UTF16PtrFromString(`Global\slipway`)
	if err != nil {
		return nil, err
	}
	// A mutex belongs to a thread.
	runtime.LockOSThread()
	mutex, err := windows.CreateMutex(nil, false, name)
	if err != nil && !errors.Is(err, windows.ERROR_ALREADY_EXISTS) {
		return nil, err
	}
	// A mutex whose holder has died is this one's, too.
	if _, err := windows.WaitForSingleObject(mutex, windows.INFINITE); err != nil {
		return nil, err
	}
	return func() { _ = windows.ReleaseMutex(mutex); _ = windows.CloseHandle(mutex) }, nil
}

// running is not known without taking the lock.
func running() bool { return false }

func powershell(words string) string {
	answer, _ := exec.Command("powershell.exe", "-NoProfile", "-NonInteractive", "-Command", words).Output()
	return strings.TrimSpace(string(answer))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func holds(path, text string) bool {
	content, err := os.ReadFile(path)
	return err == nil && string(content) == text
}

func (h *windowsHost) mark(step plan.Step) string {
	return filepath.Join(h.places.State, h.bundle, step.ID)
}

// Ready waits to be ended with a system that goes down: a run that ends by itself is not started again on the next
// boot. A system that is still there after ten minutes stays.
func (h *windowsHost) Ready() bool {
	for range 10 {
		if powershell(askDown) != "down" {
			break
		}
		time.Sleep(time.Minute)
	}
	return true
}

func (h *windowsHost) Done(step plan.Step) bool { return exists(h.mark(step) + ".done") }

func (h *windowsHost) Final(step plan.Step) bool {
	if step.Flags.RetryOnBoot {
		return holds(h.mark(step)+".stop", h.boot)
	}
	return exists(h.mark(step) + ".stop")
}

// Clear leaves the record where it is until the step has succeeded, as the runner of Windows does.
func (h *windowsHost) Clear(plan.Step) {}

// Sync does nothing: each file is flushed as it is written.
func (h *windowsHost) Sync() {}

func (h *windowsHost) Keep(step plan.Step) error {
	h.clearLogs()
	if err := keep(h.mark(step)+".done", nil); err != nil {
		return err
	}
	_ = os.Remove(h.mark(step) + ".failed")
	return nil
}

func (h *windowsHost) clearLogs() {
	_, _ = os.Remove(logs+`\out`), os.Remove(logs+`\err`)
}

// openLog opens a file for what a step prints. The device that discards it is opened as it is: Windows makes and
// truncates files only.
func openLog(path string) (*os.File, error) {
	if path == os.DevNull {
		return os.OpenFile(path, os.O_WRONLY, 0)
	}
	return os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
}

func (h *windowsHost) Execute(step plan.Step) int {
	outPath, wrongPath := logs+`\out`, logs+`\err`
	if step.Flags.Redact {
		outPath, wrongPath = os.DevNull, os.DevNull
	}
	out, err := openLog(outPath)
	if err != nil {
		return NotComplete
	}
	defer out.Close()
	wrong, err := openLog(wrongPath)
	if err != nil {
		return NotComplete
	}
	defer wrong.Close()
	path, err := exec.LookPath(step.Program)
	if err != nil {
		return exitCannotStart
	}
	command := &exec.Cmd{Path: path, Stdout: out, Stderr: wrong}
	// The arguments are one line already, in the quoting that programs of Windows read.
	line := syscall.EscapeArg(step.Program) + " " + step.Arguments
	command.SysProcAttr = &syscall.SysProcAttr{CmdLine: strings.TrimSpace(line)}
	return supervise.Run(step.Timeout, command)
}

func (h *windowsHost) Report(event events.Event) []byte { return h.log.Write(event) }

func (h *windowsHost) Record(step plan.Step, line []byte) {
	record := line
	if !step.Flags.Redact {
		text := append(tail(logs+`\out`), tail(logs+`\err`)...)
		record = append(append([]byte{}, line...), text[max(0, len(text)-tailBytes):]...)
	}
	h.clearLogs()
	_ = keep(h.mark(step)+".failed", record)
	_ = keep(h.mark(step)+".stop", []byte(h.boot))
}

func tail(path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text[max(0, len(text)-tailBytes):]
}

// send writes a line to the serial console, where there is one.
func send(line []byte) error {
	name, err := windows.UTF16PtrFromString(`\\.\COM1`)
	if err != nil {
		return err
	}
	port, err := windows.CreateFile(name, windows.GENERIC_WRITE|windows.GENERIC_READ, 0, nil, windows.OPEN_EXISTING, 0, 0)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(port) }()
	state := windows.DCB{}
	if err := windows.GetCommState(port, &state); err != nil {
		return err
	}
	state.BaudRate, state.ByteSize, state.Parity, state.StopBits = 115200, 8, 0, 0
	_ = windows.SetCommState(port, &state)
	_ = windows.SetCommTimeouts(port, &windows.CommTimeouts{WriteTotalTimeoutConstant: 5000})
	var written uint32
	return windows.WriteFile(port, line, &written, nil)
}

func keep(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

func (h *windowsHost) Sentinel() error {
	if err := os.MkdirAll(filepath.Dir(SentinelPath), 0o755); err != nil {
		return err
	}
	return os.WriteFile(SentinelPath, []byte("success\n"), 0o644)
}

func (h *windowsHost) Reboot() int {
	if err := keep(root+`\reboot`, []byte(h.boot)); err != nil {
		return NotComplete
	}
	return ExitCode(exec.Command("shutdown.exe", "/r", "/f", "/t", "0").Run())
}

// ExitCode gives the exit code of a command.
func ExitCode(err error) int {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return ended.ExitCode()
	}
	return exitCannotStart
}
