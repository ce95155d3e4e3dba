// Package supervise ends a program that takes too long, with everything that it has started.
package supervise

import (
	"errors"
	"os/exec"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

const (
	timedOut    = 124
	cannotStart = 127
)

// Run starts a command, and gives its exit code. After the limit, unless that is 0, the job object in which it runs is
// ended, and with it every process that it has started. What a command leaves behind that ends in time goes on.
//
// The process is started suspended and put into the job before its first instruction: it can start nothing outside.
func Run(limit time.Duration, command *exec.Cmd) int {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return cannotStart
	}
	defer func() { _ = windows.CloseHandle(job) }()
	command.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED
	if command.Start() != nil {
		return cannotStart
	}
	if begin(job, uint32(command.Process.Pid)) != nil {
		_ = command.Process.Kill()
		_ = command.Wait()
		return cannotStart
	}
	ended := make(chan int, 1)
	go func() { ended <- exitCode(command.Wait()) }()
	if limit <= 0 {
		return <-ended
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case code := <-ended:
		return code
	case <-timer.C:
	}
	_ = windows.TerminateJobObject(job, timedOut)
	<-ended
	return timedOut
}

// begin puts a suspended process into the job, and lets it run.
func begin(job windows.Handle, pid uint32) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	if err := windows.AssignProcessToJobObject(job, process); err != nil {
		return err
	}
	return resume(pid)
}

// resume lets the only thread of a suspended process run.
func resume(pid uint32) error {
	threads, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(threads) }()
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(threads, &entry); err == nil; err = windows.Thread32Next(threads, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		return errors.Join(err, windows.CloseHandle(thread))
	}
	return err
}

func exitCode(err error) int {
	var ended *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &ended):
		return ended.ExitCode()
	}
	return cannotStart
}
