package executor

const kubeletFolder = `C:\var\lib\kubelet`

// A folder of a container runtime shows that there is one, also where it does not run.
var runtimeFolders = []string{`C:\ProgramData\containerd`}

// runtimeListens says whether the pipe of a container runtime is there.
func runtimeListens() bool {
	return exists(`\\.\pipe\containerd-containerd`) || exists(`\\.\pipe\cri-dockerd`)
}

func (h *windowsHost) Observe() []string { return observed() }
