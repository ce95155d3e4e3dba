// Package supervise ends a program that takes too long, with everything that it has started.
package supervise

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	timedOut    = 124
	cannotStart = 127
	grace       = 9 * time.Second
	sweep       = 50 * time.Millisecond
)

// Run starts a command, and gives its exit code. After the limit the whole tree below this process gets SIGTERM, after
// the grace SIGKILL: also what has left its process group or session, since this process inherits every orphan below
// it. What a command leaves behind that ends in time goes on.
func Run(limit time.Duration, argv []string) int {
	// Without this, orphans go to the system's first process, and only the process group is ended.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	command := exec.Command(argv[0], argv[1:]...)
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if command.Start() != nil {
		return cannotStart
	}
	ended := make(chan int, 1)
	go func() { ended <- exitCode(command.Wait()) }()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case code := <-ended:
		return code
	case <-timer.C:
	}
	group := command.Process.Pid
	signal(group, unix.SIGTERM, unix.SIGCONT)
	for deadline := time.Now().Add(grace); time.Now().Before(deadline); time.Sleep(sweep) {
		if len(ended) == 1 && len(below(os.Getpid())) == 0 {
			return timedOut
		}
	}
	// What forks is stopped before it is killed. Nothing is left after an empty count; only the kernel can keep a process
	// longer than that.
	for deadline := time.Now().Add(grace); time.Now().Before(deadline); time.Sleep(sweep) {
		signal(group, unix.SIGSTOP)
		signal(group, unix.SIGKILL)
		if len(below(os.Getpid())) == 0 {
			break
		}
	}
	return timedOut
}

func signal(group int, signals ...syscall.Signal) {
	for _, number := range signals {
		_ = unix.Kill(-group, number)
		for _, pid := range below(os.Getpid()) {
			_ = unix.Kill(pid, number)
		}
	}
}

func exitCode(err error) int {
	var ended *exec.ExitError
	if err == nil {
		return 0
	}
	if !errors.As(err, &ended) {
		return cannotStart
	}
	if status, is := ended.Sys().(syscall.WaitStatus); is && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return ended.ExitCode()
}

// below gives the living descendants of a process; none where /proc is missing.
func below(ancestor int) []int {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if parent, living := parentOf(pid); living {
			children[parent] = append(children[parent], pid)
		}
	}
	var result []int
	for left := []int{ancestor}; len(left) > 0; left = left[1:] {
		result = append(result, children[left[0]]...)
		left = append(left, children[left[0]]...)
	}
	return result
}

// parentOf reads the parent of a process. A process may have any name, so fields are counted behind the last bracket.
func parentOf(pid int) (parent int, living bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
	if len(fields) < 2 || bytes.Equal(fields[0], []byte("X")) {
		return 0, false
	}
	parent, err = strconv.Atoi(string(fields[1]))
	return parent, err == nil && !bytes.Equal(fields[0], []byte("Z"))
}
