// Package preflight checks what a machine needs to become a node, before anything is changed.
package preflight

import (
	"context"
	"time"
)

// Levels of an outcome.
const (
	OK      = "ok"
	Warning = "warning"
	Failed  = "failed"
	Skipped = "skipped"
)

// Reason is the id of a rule of the diagnosis.
type Reason string

// Reasons that a check may give: ids of rules of services/slipway/diagnosis, which have explanation and remedy.
const (
	CertificateNotYetValid   Reason = "certificate-not-yet-valid"
	CertificateNotValidNow   Reason = "certificate-not-valid-now"
	CertificateNameMismatch  Reason = "certificate-name-mismatch"
	CertificateUntrusted     Reason = "certificate-authority-untrusted"
	CaHashMismatch           Reason = "ca-hash-mismatch"
	ClusterInfoMissing       Reason = "cluster-info-missing"
	EndpointNameNotResolved  Reason = "endpoint-name-not-resolved"
	EndpointUnreachable      Reason = "endpoint-unreachable"
	EndpointRefused          Reason = "endpoint-refused"
	EndpointWithoutTLS       Reason = "endpoint-without-tls"
	ProxyUnreachable         Reason = "proxy-unreachable"
	ProxyWithoutExceptions   Reason = "proxy-without-exceptions"
	DiskFull                 Reason = "disk-full"
	ReadOnlyFileSystem       Reason = "read-only-file-system"
	CgroupVersionOneRefused  Reason = "cgroup-version-one-refused"
	KernelNotSuitable        Reason = "kernel-not-suitable"
	ContainerRuntimeNotRuns  Reason = "container-runtime-not-running"
	SeveralContainerRuntimes Reason = "several-container-runtimes"
	PortInUse                Reason = "port-in-use"
	CertificateMissing       Reason = "certificate-missing"
)

// Outcome is what a check has found.
type Outcome struct {
	Check   string `json:"check"`
	Level   string `json:"level"`
	Reason  Reason `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}

// Wishes say what to check.
type Wishes struct {
	Endpoint string        // HOST:PORT of the API server; empty: nothing of the network is checked
	CAFile   string        // certificates that may have signed the API server's
	CAHashes []string      // sha256:HEX of the public keys of those CAs, as kubeadm writes them
	Socket   string        // of the container runtime; empty: whichever is there
	Ports    []int         // that must be free
	Folder   string        // that needs the room
	Room     uint64        // bytes
	Timeout  time.Duration // of each step on the network
}

// Check does all checks, a cause before what follows from it.
func Check(ctx context.Context, wishes Wishes) []Outcome {
	results := []Outcome{clock(wishes), room(wishes.Folder, wishes.Room), cgroups(), runtimeSocket(wishes.Socket)}
	results = append(results, ports(wishes.Ports))
	return append(results, network(ctx, wishes)...)
}

func good(check string) Outcome { return Outcome{Check: check, Level: OK} }

func bad(check string, reason Reason, message string) Outcome {
	return Outcome{check, Failed, reason, message}
}

func warn(check string, reason Reason, message string) Outcome {
	return Outcome{check, Warning, reason, message}
}

func skipped(check, message string) Outcome {
	return Outcome{Check: check, Level: Skipped, Message: message}
}
