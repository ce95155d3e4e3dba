package executor

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// The descriptor on which the runner holds its lock.
const runnerLock = 9

// lock waits until nobody else runs. It takes both locks that a runner may hold: the one of flock, and the link that
// names a process where there is no flock. A runner that has started this program by `exec` holds its lock already.
func lock() (release func(), err error) {
	path := filepath.Join(volatile, "lock")
	file, err := inherited(path)
	if err != nil {
		return nil, err
	}
	if file == nil {
		file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
	}
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	link, own := filepath.Join(volatile, "pid"), strconv.Itoa(os.Getpid())
	for {
		err = os.Symlink(own, link)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrExist) {
			return nil, err
		}
		holder, _ := os.Readlink(link)
		if holder == own {
			break
		}
		if pid, err := strconv.Atoi(holder); err != nil || errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = os.Remove(link)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return func() { _ = os.Remove(link); _ = file.Close() }, nil
}

// inherited gives the runner's own lock, or nil; steps do not inherit it any further.
func inherited(path string) (*os.File, error) {
	var here, there unix.Stat_t
	if unix.Fstat(runnerLock, &here) != nil || unix.Stat(path, &there) != nil {
		return nil, nil
	}
	if here.Dev != there.Dev || here.Ino != there.Ino {
		return nil, nil
	}
	unix.CloseOnExec(runnerLock)
	return os.NewFile(runnerLock, path), nil
}

// running says whether somebody holds one of the two locks.
func running() bool {
	if holder, err := os.Readlink(filepath.Join(volatile, "pid")); err == nil {
		if pid, err := strconv.Atoi(holder); err == nil && !errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			return true
		}
	}
	file, err := os.Open(filepath.Join(volatile, "lock"))
	if err != nil {
		return false
	}
	defer file.Close()
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
