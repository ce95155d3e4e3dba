// Command node_parts is what else goes into the images of a node: the pause program, and what lets kube-proxy start.
//
// Which of them it is says the name that it was called by.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

const (
	// Readable and writable in the first network namespace only, and kube-proxy gives up when it cannot write it.
	conntrackLimit  = "/proc/sys/net/netfilter/nf_conntrack_max"
	standIn         = "/nf_conntrack_max"
	kubernetes      = "/usr/local/bin/kubebox" // all of its programs, by the name they are called by
	failed          = 1
	unknownProgram  = 64
	ordinaryMaximum = "131072\n"
)

func main() {
	switch name := filepath.Base(os.Args[0]); name {
	case "pause":
		pause()
	case "kube-proxy":
		if err := startKubeProxy(); err != nil {
			fmt.Fprintln(os.Stderr, "kube-proxy:", err)
			os.Exit(failed)
		}
	default:
		fmt.Fprintf(os.Stderr, "node_parts: no program %q\n", name)
		os.Exit(unknownProgram)
	}
}

// pause holds the namespaces of a pod, and buries its orphans.
func pause() {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGCHLD)
	for received := range signals {
		if received != syscall.SIGCHLD {
			return
		}
		for {
			if dead, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != nil || dead <= 0 {
				break
			}
		}
	}
}

// startKubeProxy becomes the real kube-proxy, with a plain file in place of the limit that a machine here cannot set.
func startKubeProxy() error {
	if err := os.WriteFile(standIn, []byte(ordinaryMaximum), 0o644); err != nil {
		return err
	}
	if err := syscall.Mount(standIn, conntrackLimit, "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("%s: %w", conntrackLimit, err)
	}
	os.Args[0] = "kube-proxy"
	return syscall.Exec(kubernetes, os.Args, os.Environ())
}
