package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"slipway.dev/machineadm/internal/preflight"
)

var hash = regexp.MustCompile(`^sha256:[0-9A-Fa-f]{64}$`)

// checkMachine checks what the machine needs to become a node; it changes nothing.
func checkMachine(arguments []string, out, err io.Writer) int {
	set := flags("preflight", err)
	wishes := preflight.Wishes{}
	set.StringVar(&wishes.Endpoint, "endpoint", "", "HOST:PORT of the API server; without it the network is not checked")
	set.StringVar(&wishes.CAFile, "ca-file", "", "PEM file with the CA certificates of the cluster")
	hashes := set.String("ca-cert-hash", "", "hashes of the CA's public key as in kubeadm, sha256:HEX, with commas between")
	set.StringVar(&wishes.Socket, "cri-socket", "", "socket of the container runtime; default: the only known one that is there")
	ports := set.String("ports", "10250", "TCP ports that must be free, with commas between")
	set.StringVar(&wishes.Folder, "folder", preflight.DefaultFolder, "folder that needs the room")
	room := set.Uint64("room", 1024, "MiB that must be free")
	set.DurationVar(&wishes.Timeout, "timeout", 10*time.Second, "time limit of each connection")
	asJSON := set.Bool("json", false, "print JSON lines")
	if !parse(set, arguments) {
		return misused
	}
	problem := ""
	if wishes.Room = *room << 20; wishes.Room>>20 != *room {
		problem = "--room is too large"
	}
	for _, word := range words(*hashes) {
		if !hash.MatchString(word) {
			problem = "--ca-cert-hash must be sha256: and 64 hexadecimal digits"
		}
		wishes.CAHashes = append(wishes.CAHashes, word)
	}
	for _, word := range words(*ports) {
		port, failure := strconv.ParseUint(word, 10, 16)
		if failure != nil || port == 0 {
			problem = "--ports must be numbers of ports"
		}
		wishes.Ports = append(wishes.Ports, int(port))
	}
	if wishes.Endpoint != "" {
		if host, port, failure := net.SplitHostPort(wishes.Endpoint); failure != nil || host == "" || port == "" {
			problem = "--endpoint must be HOST:PORT"
		} else if wishes.CAFile == "" && len(wishes.CAHashes) == 0 {
			problem = "--endpoint needs --ca-file or --ca-cert-hash: without a pinned CA nothing can be said of TLS"
		}
	}
	if problem != "" {
		fmt.Fprintln(err, "machineadm preflight:", problem)
		return misused
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return tellOutcomes(preflight.Check(ctx, wishes), *asJSON, out)
}

func words(list string) []string {
	return strings.FieldsFunc(list, func(one rune) bool { return one == ',' })
}

func tellOutcomes(outcomes []preflight.Outcome, asJSON bool, out io.Writer) int {
	code := ok
	for _, one := range outcomes {
		if one.Level == preflight.Failed {
			code = failed
		}
		if asJSON {
			if json.NewEncoder(out).Encode(one) != nil {
				return failed
			}
			continue
		}
		text := fmt.Sprintf("%s: %s", one.Check, one.Level)
		for _, part := range []string{string(one.Reason), one.Message} {
			if part != "" {
				text += ": " + part
			}
		}
		fmt.Fprintln(out, text)
	}
	return code
}
