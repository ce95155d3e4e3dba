package executor

import (
	"net/http"
	"time"

	"slipway.dev/machineadm/internal/events"
)

// The kubelet answers its own machine there, unless its configuration says otherwise.
const healthz = "http://127.0.0.1:10248/healthz"

// The kubelet may take so long for its answer; the runners are as patient with it.
const healthzPatience = 2 * time.Second

// observed gives what is reported of the kubelet and of the container runtime, as the runners do. Where the kubelet is
// healthy, a container runtime that is not seen listens elsewhere.
func observed() []string {
	var reasons []string
	isHealthy := answers(healthz)
	switch {
	case isHealthy:
		reasons = append(reasons, events.KubeletHealthy)
	case exists(kubeletFolder):
		reasons = append(reasons, events.KubeletNotHealthy)
	}
	switch {
	case runtimeListens():
		reasons = append(reasons, events.ContainerRuntimeRunning)
	case !isHealthy && hasRuntime():
		reasons = append(reasons, events.ContainerRuntimeNotRunning)
	}
	return reasons
}

func answers(address string) bool {
	// A transport of its own has no proxy.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: healthzPatience}
	answer, err := client.Get(address)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode < http.StatusBadRequest
}

func hasRuntime() bool {
	for _, folder := range append([]string{kubeletFolder}, runtimeFolders...) {
		if exists(folder) {
			return true
		}
	}
	return false
}
