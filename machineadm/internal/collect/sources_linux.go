package collect

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// What is collected, and nothing else. The units are those that take part in the bootstrap of a node.
var (
	units = []string{
		"slipway-bootstrap.service", "slipway-resume.service", "slipway-report.service", "kubeadm.service", "kubelet.service", "containerd.service", "crio.service",
		"docker.service", "k0scontroller.service", "k0sworker.service", "etcd.service",
		"cloud-init-local.service", "cloud-init-main.service", "cloud-init-network.service", "cloud-init.service",
		"cloud-config.service", "cloud-final.service", "coreos-metadata.service", "afterburn.service",
		"systemd-networkd.service", "systemd-resolved.service", "NetworkManager.service", "systemd-timesyncd.service",
		"chronyd.service", "chrony.service", "ntpd.service", "systemd-modules-load.service", "systemd-sysctl.service",
		"realmd.service", "sssd.service",
	}
	paths = []string{
		"var/lib/slipway/events.jsonl", "var/lib/slipway/evidence.json", "var/lib/slipway/state/*/*.failed", "run/slipway/log",
		"var/log/cloud-init.log", "var/log/cloud-init-output.log", "run/cloud-init/status.json",
		"run/cloud-init/result.json", "run/cloud-init/ds-identify.log", "etc/.ignition-result.json",
		"var/log/pods/kube-system_*/*/*.log",
		"etc/os-release", "etc/resolv.conf", "etc/hosts", "proc/meminfo", "proc/loadavg", "proc/uptime", "proc/mounts",
		"proc/modules", "proc/pressure/*",
	}
	// Where there is no journal, as with OpenRC, the same is in files.
	withoutJournal = []string{
		"var/log/messages", "var/log/syslog", "var/log/daemon.log", "var/log/kern.log", "var/log/rc.log", "var/log/dmesg",
		"var/log/kubelet.log", "var/log/kubelet/*.log", "var/log/kubelet/*.err", "var/log/containerd.log",
		"var/log/containerd/*.log", "var/log/crio.log", "var/log/k0s*.log", "var/log/k0s*.err",
	}
)

var secretPlaces = []place{
	{"var/lib/slipway", false}, {"run/slipway/facts", false}, {"etc/slipway", false},
	{"var/lib/cloud/instance*", false}, {"var/lib/cloud/seed", false}, {"run/ignition.json", false}, {"usr/share/oem/*.ign", false},
	{"run/cloud-init/instance-data-sensitive.json", false}, {"run/cloud-init/combined-cloud-config.json", false},
	{"run/kubeadm", false}, {"etc/kubeadm*", false}, {"etc/kubernetes", false}, {"var/lib/kubelet/pki", false}, {"var/lib/kubelet/*.json", false},
	{"var/lib/kubelet/*.conf", false}, {"var/lib/kubelet/kubeconfig", false}, {"etc/k0s", false}, {"var/lib/k0s/pki", false},
	{"etc/containerd", false}, {"etc/crio", false}, {"etc/docker", false}, {"root/.docker/config.json", false},
	{"etc/shadow", false}, {"etc/ssh/ssh_host_*_key", false}, {"root/.netrc", false}, {"etc/netrc", false},
	{"etc/apt/auth.conf*", false}, {"etc/apt/sources.list.d", false}, {"etc/yum.repos.d", false}, {"etc/zypp/credentials.d", false},
	{"etc/environment", false}, {"etc/profile.d", false}, {"etc/default", false}, {"etc/sysconfig", false},
	{"etc/systemd/system", false}, {"etc/conf.d", false}, {"etc/sssd", false}, {"etc/krb5.keytab", true},
	{"run/secrets", true}, {"etc/etcd", false}, {"root/.kube/config", false},
}

// Sources gives what is collected of the machine whose files are below a root.
func Sources(ctx context.Context, root string) []Text {
	now := time.Now()
	var texts []Text
	for _, pattern := range paths {
		texts = append(texts, files(root, pattern)...)
	}
	journal := journalOf(ctx, now)
	if len(journal) == 0 {
		for _, pattern := range withoutJournal {
			texts = append(texts, files(root, pattern)...)
		}
		texts = append(texts, printed(ctx, now, "facts/rc-status.txt", "rc-status", "--all", "--nocolor")...)
		texts = append(texts, printed(ctx, now, "facts/dmesg.txt", "dmesg")...)
	}
	texts = append(texts, journal...)
	texts = append(texts, printed(ctx, now, "facts/units.txt", "systemctl", "--no-pager", "--plain", "--failed")...)
	texts = append(texts, printed(ctx, now, "facts/clock.txt", "timedatectl")...)
	texts = append(texts, printed(ctx, now, "facts/containers.txt", "crictl", "ps", "-a")...)
	return append(texts,
		Text{Name: "facts/network.txt", Content: network(root), Changed: now},
		Text{Name: "facts/disks.txt", Content: disks(root), Changed: now},
		Text{Name: "facts/time.txt", Content: []byte(now.UTC().Format(time.RFC3339) + "\n"), Changed: now},
	)
}

func printed(ctx context.Context, now time.Time, name, program string, arguments ...string) []Text {
	content, cut := output(ctx, mostOfSource, program, arguments...)
	if len(content) == 0 {
		return nil
	}
	return []Text{{Name: name, Content: content, Changed: now, Cut: cut}}
}

// journalOf gives what each unit and the kernel have written since the machine was started, and what Ignition has.
func journalOf(ctx context.Context, now time.Time) []Text {
	common := []string{"--no-pager", "--quiet", "--boot", "--lines=20000", "--output=short-iso"}
	ask := func(name string, filter ...string) []Text {
		texts := printed(ctx, now, "journal/"+name+".log", "journalctl", append(common[:len(common):len(common)], filter...)...)
		for index := range texts {
			texts[index].Changed = lastTime(texts[index].Content, now)
		}
		return texts
	}
	texts := ask("kernel", "--dmesg")
	texts = append(texts, ask("ignition", "--identifier=ignition")...)
	for _, unit := range units {
		texts = append(texts, ask(unit, "--unit="+unit)...)
	}
	return texts
}

// listening is the state of a socket, as /proc/net/tcp has it.
const listening = "0A"

func network(root string) []byte {
	var text bytes.Buffer
	interfaces, _ := net.Interfaces()
	for _, one := range interfaces {
		fmt.Fprintf(&text, "%s %s mtu %d\n", one.Name, one.Flags, one.MTU)
		addresses, _ := one.Addrs()
		for _, address := range addresses {
			fmt.Fprintf(&text, "  %s\n", address)
		}
	}
	for _, name := range []string{"proc/net/route", "proc/net/ipv6_route"} {
		if content, err := start(filepath.Join(root, name), 256<<10); err == nil {
			fmt.Fprintf(&text, "\n%s\n%s", name, content)
		}
	}
	text.WriteString("\nTCP ports that something listens on:\n")
	for _, name := range []string{"proc/net/tcp", "proc/net/tcp6"} {
		content, _ := start(filepath.Join(root, name), 1<<20)
		for line := range strings.Lines(string(content)) {
			words := strings.Fields(line)
			if len(words) < 4 || words[3] != listening {
				continue
			}
			address, hex, _ := strings.Cut(words[1], ":")
			if port, err := strconv.ParseUint(hex, 16, 16); err == nil {
				fmt.Fprintf(&text, "%d on %s\n", port, address)
			}
		}
	}
	return text.Bytes()
}

// disks gives room and inodes of each mounted file system.
func disks(root string) []byte {
	var text bytes.Buffer
	mounts, _ := os.ReadFile(filepath.Join(root, "proc/self/mounts"))
	seen := map[string]bool{}
	for line := range strings.Lines(string(mounts)) {
		words := strings.Fields(line)
		if len(words) < 3 || seen[words[1]] || !strings.HasPrefix(words[0], "/") && words[2] != "tmpfs" {
			continue
		}
		seen[words[1]] = true
		var room unix.Statfs_t
		if unix.Statfs(filepath.Join(root, words[1]), &room) == nil {
			fmt.Fprintf(&text, "%s %s %s: %d of %d MiB free, %d of %d inodes free\n", words[1], words[0], words[2],
				room.Bavail*uint64(room.Bsize)>>20, room.Blocks*uint64(room.Bsize)>>20, room.Ffree, room.Files)
		}
	}
	return text.Bytes()
}
