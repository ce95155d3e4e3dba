package preflight

import (
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// Files whose time is not after now on a machine whose clock is right: systemd's, and that of the image itself.
var older = []string{"/usr/lib/clock-epoch", "/usr/lib/os-release", "/etc/os-release"}

func clock(wishes Wishes) Outcome { return clockAt(time.Now(), wishes, older) }

func clockAt(now time.Time, wishes Wishes, older []string) Outcome {
	const check = "clock"
	for _, path := range older {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(now.Add(time.Minute)) {
			return bad(check, CertificateNotYetValid, "the clock is behind the image itself")
		}
	}
	if wishes.CAFile == "" {
		return good(check)
	}
	authorities, err := readAuthorities(wishes.CAFile)
	if err != nil {
		return bad(check, CertificateMissing, "the file of the CA cannot be read as PEM certificates")
	}
	for _, authority := range authorities {
		if now.Before(authority.NotBefore) {
			return bad(check, CertificateNotYetValid, "the clock is behind the CA's certificate")
		}
		if now.After(authority.NotAfter) {
			return bad(check, CertificateNotValidNow, "by the clock the CA's certificate has expired")
		}
	}
	return good(check)
}

// Where container runtimes listen, by kubeadm's own list.
var sockets = []string{"/run/containerd/containerd.sock", "/run/crio/crio.sock", "/run/cri-dockerd.sock"}

func runtimeSocket(socket string) Outcome { return socketOf(socket, sockets) }

func socketOf(socket string, known []string) Outcome {
	const check = "runtime"
	path := strings.TrimPrefix(socket, "unix://")
	if path == "" {
		var there []string
		for _, one := range known {
			if _, err := os.Stat(one); err == nil {
				there = append(there, one)
			}
		}
		switch len(there) {
		case 0:
			return bad(check, ContainerRuntimeNotRuns, "no socket of a container runtime is there")
		case 1:
			path = there[0]
		default:
			return bad(check, SeveralContainerRuntimes, "sockets of several container runtimes are there")
		}
	}
	if !answers(path) {
		return bad(check, ContainerRuntimeNotRuns, "nothing answers at "+path)
	}
	return good(check)
}

func ports(wanted []int) Outcome {
	const check = "ports"
	for _, port := range wanted {
		listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
		if err != nil {
			return bad(check, PortInUse, fmt.Sprintf("port %d cannot be listened on", port))
		}
		_ = listener.Close()
	}
	return good(check)
}
