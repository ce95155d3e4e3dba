package executor

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"slipway.dev/machineadm/internal/events"
	"slipway.dev/machineadm/internal/plan"
)

const tailBytes = 4096

type linuxHost struct {
	places Places
	bundle string
	log    *events.Log
}

func newHost(places Places, bundle string) Host {
	return &linuxHost{places, bundle, newLog(places, bundle, send)}
}

// Start runs the plan of these places on this machine; it gives the exit code.
func Start(places Places, pause time.Duration) (int, error) {
	if err := os.Chdir("/"); err != nil {
		return NotComplete, err
	}
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin:/opt/bin"); err != nil {
		return NotComplete, err
	}
	unix.Umask(0o022)
	for _, folder := range []string{volatile, places.State} {
		if err := private(folder); err != nil {
			return NotComplete, err
		}
	}
	release, err := lock()
	if err != nil {
		return NotComplete, err
	}
	defer release()
	// Between the order to reboot and the end of the system nothing more may start.
	if exists(volatile + "/reboot") {
		return Complete, nil
	}
	steps, err := places.Read()
	if err != nil {
		return NotComplete, err
	}
	for _, folder := range []string{filepath.Join(volatile, steps.Bundle), filepath.Join(places.State, steps.Bundle)} {
		if err := private(folder); err != nil {
			return NotComplete, err
		}
	}
	return Run(newHost(places, steps.Bundle), steps, pause), nil
}

// private makes a folder of root's; one that is there keeps its mode.
func private(folder string) error {
	if err := os.MkdirAll(filepath.Dir(folder), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (h *linuxHost) state(step plan.Step) string {
	return filepath.Join(h.places.State, h.bundle, step.ID)
}

func (h *linuxHost) stop(step plan.Step) string {
	if step.Flags.RetryOnBoot {
		return filepath.Join(volatile, h.bundle, step.ID+".stop")
	}
	return h.state(step) + ".stop"
}

func (h *linuxHost) Ready() bool {
	answer, _ := exec.Command("systemctl", "is-system-running").Output()
	return strings.TrimSpace(string(answer)) != "stopping"
}

func (h *linuxHost) Done(step plan.Step) bool  { return exists(h.state(step)) }
func (h *linuxHost) Final(step plan.Step) bool { return exists(h.stop(step)) }
func (h *linuxHost) Clear(step plan.Step)      { _ = os.Remove(h.state(step) + ".failed") }
func (h *linuxHost) Sync()                     { unix.Sync() }

func (h *linuxHost) Keep(step plan.Step) error { return keep(h.state(step), nil) }

func (h *linuxHost) Execute(step plan.Step) int {
	log := os.DevNull
	if !step.Flags.Redact {
		log = filepath.Join(volatile, "log")
	}
	output, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return NotComplete
	}
	defer output.Close()
	command := exec.Command("sh", filepath.Join(h.places.Steps, step.ID))
	if step.Timeout > 0 {
		seconds := strconv.Itoa(int(step.Timeout / time.Second))
		supervised := append([]string{"machineadm", "supervise", seconds}, command.Args...)
		command = &exec.Cmd{Path: self(), Args: supervised}
	}
	command.Stdout, command.Stderr = output, output
	return ExitCode(command.Run())
}

// self gives this very program, also after a step has put another version in its place.
func self() string {
	const running = "/proc/self/exe"
	if path, err := os.Executable(); err == nil && !exists(running) {
		return path
	}
	return running
}

// ExitCode gives the exit code of a command as a shell tells it.
func ExitCode(err error) int {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &ended):
		return exitCannotStart
	}
	if status, is := ended.Sys().(syscall.WaitStatus); is && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return ended.ExitCode()
}

func (h *linuxHost) Report(event events.Event) []byte { return h.log.Write(event) }

// send writes a line to the console, where there is one.
func send(line []byte) error {
	to, err := os.OpenFile(console, os.O_WRONLY|os.O_APPEND|unix.O_NOCTTY, 0)
	if err != nil {
		return err
	}
	_, err = to.Write(line)
	return errors.Join(err, to.Close())
}

func (h *linuxHost) Record(step plan.Step, line []byte) {
	record := line
	if !step.Flags.Redact {
		record = append(bytes.Clone(line), tail(filepath.Join(volatile, "log"))...)
	}
	// The first is in memory: it finds room on a machine whose disk is full.
	_ = keep(filepath.Join(volatile, "f"), record)
	_ = keep(h.state(step)+".failed", record)
	_ = keep(h.stop(step), nil)
}

func tail(path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	if size, err := file.Seek(0, io.SeekEnd); err == nil {
		_, _ = file.Seek(max(0, size-tailBytes), io.SeekStart)
	}
	text, _ := io.ReadAll(io.LimitReader(file, tailBytes))
	return text
}

// keep writes a file for root only, whole and on the disk before it returns.
func keep(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Sync(), file.Close())
}

func (h *linuxHost) Sentinel() error {
	if err := os.MkdirAll(filepath.Dir(SentinelPath), 0o755); err != nil {
		return err
	}
	return os.WriteFile(SentinelPath, []byte("success\n"), 0o644)
}

func (h *linuxHost) Reboot() int {
	if err := keep(filepath.Join(volatile, "reboot"), nil); err != nil {
		return NotComplete
	}
	return ExitCode(exec.Command("reboot").Run())
}
