package collect

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"time"
)

// The serial console of Windows is not for logs, so what programs say is in the event log and in files.
var paths = []string{
	`ProgramData\slipway\events.jsonl`, `ProgramData\slipway\state\*\*.failed`, `ProgramData\slipway\log\*`,
	`Program Files\Cloudbase Solutions\Cloudbase-Init\log\*.log`, `var\log\kubelet\*.log`, `var\log\kubelet\*.INFO*`,
	`k\*.log`, `Windows\Panther\setupact.log`, `Windows\Panther\setuperr.log`, `Windows\debug\NetSetup.log`,
}

var secretPlaces = []place{
	{`ProgramData\slipway`, false}, {`Program Files\Cloudbase Solutions\Cloudbase-Init\conf`, false},
	{`etc\kubernetes`, false}, {`k`, false}, {`var\lib\kubelet\pki`, false}, {`var\lib\kubelet\*.conf`, false},
	{`var\lib\kubelet\*.json`, false}, {`run\kubeadm`, false}, {`ProgramData\docker\config`, false},
	{`Program Files\containerd\*.toml`, false}, {`Windows\Panther\unattend*.xml`, false},
	{`ProgramData\ssh\ssh_host_*_key`, false},
}

// Sources gives what is collected of the machine.
func Sources(ctx context.Context, root string) []Text {
	now := time.Now()
	var texts []Text
	for _, pattern := range paths {
		texts = append(texts, files(root, pattern)...)
	}
	for _, log := range []string{"Application", "System", "Setup"} {
		content, cut := output(ctx, mostOfSource, "wevtutil.exe", "query-events", log, "/count:2000", "/reverse:true", "/format:text")
		if len(content) > 0 {
			texts = append(texts, Text{Name: "eventlog/" + log + ".txt", Content: content, Changed: now, Cut: cut})
		}
	}
	for name, command := range map[string][]string{
		"facts/network.txt": {"ipconfig.exe", "/all"}, "facts/routes.txt": {"route.exe", "print"},
		"facts/clock.txt": {"w32tm.exe", "/query", "/status"}, "facts/services.txt": {"sc.exe", "query"},
	} {
		content, cut := output(ctx, mostOfSource, command[0], command[1:]...)
		if len(content) > 0 {
			texts = append(texts, Text{Name: name, Content: content, Changed: now, Cut: cut})
		}
	}
	var text bytes.Buffer
	interfaces, _ := net.Interfaces()
	for _, one := range interfaces {
		addresses, _ := one.Addrs()
		fmt.Fprintf(&text, "%s %s %v\n", one.Name, one.Flags, addresses)
	}
	return append(texts, Text{Name: "facts/interfaces.txt", Content: text.Bytes(), Changed: now})
}
