// Command containerd answers what containerd's own code understands of its configuration, without a daemon.
//
//	containerd config FILE         strict load of the top level
//	containerd hosts DIR REF...    the registry hosts that a certs.d folder leads to, in the order of use
//
// It holds glue only. Standard output is one JSON document; the status is 1 when the answer is no.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/containerd/containerd/v2/cmd/containerd/server/config"
	"github.com/containerd/containerd/v2/core/remotes/docker"
	hosts "github.com/containerd/containerd/v2/core/remotes/docker/config"
	"github.com/containerd/log"
	"github.com/sirupsen/logrus"
)

type answer struct {
	OK       bool              `json:"ok"`
	Error    string            `json:"error,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
	Version  int               `json:"version,omitempty"`
	Plugins  []string          `json:"plugins,omitempty"`
	Hosts    map[string][]host `json:"hosts,omitempty"`
}

type host struct {
	Scheme       string              `json:"scheme"`
	Host         string              `json:"host"`
	Path         string              `json:"path"`
	Capabilities []string            `json:"capabilities"`
	Header       map[string][]string `json:"header,omitempty"`
}

var capabilities = map[string]docker.HostCapabilities{
	"pull": docker.HostCapabilityPull, "resolve": docker.HostCapabilityResolve, "push": docker.HostCapabilityPush,
}

// hook keeps what containerd logs: a misspelt key is only ever a warning.
type hook struct{ said *[]string }

func (h hook) Levels() []logrus.Level { return logrus.AllLevels }
func (h hook) Fire(entry *logrus.Entry) error {
	text := entry.Level.String() + ": " + entry.Message
	for _, name := range []string{"key", "plugin"} {
		if value, ok := entry.Data[name]; ok {
			text += fmt.Sprintf(" %s=%v", name, value)
		}
	}
	*h.said = append(*h.said, text)
	return nil
}

func main() {
	got := answer{}
	log.L.Logger.AddHook(hook{&got.Warnings})
	log.L.Logger.SetOutput(io.Discard)
	err := errors.New("usage: config FILE | hosts DIR REF...")
	switch {
	case len(os.Args) == 3 && os.Args[1] == "config":
		err = load(os.Args[2], &got)
	case len(os.Args) > 3 && os.Args[1] == "hosts":
		err = resolve(os.Args[2], os.Args[3:], &got)
	}
	if err != nil {
		got.Error = err.Error()
	}
	got.OK = err == nil
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(got); err != nil || !got.OK {
		os.Exit(1)
	}
}

func load(file string, got *answer) error {
	loaded := &config.Config{}
	err := config.LoadConfig(context.Background(), file, loaded)
	got.Version = loaded.Version
	for id := range loaded.Plugins {
		got.Plugins = append(got.Plugins, id)
	}
	slices.Sort(got.Plugins)
	return err
}

func resolve(folder string, references []string, got *answer) error {
	find := hosts.ConfigureHosts(context.Background(), hosts.HostOptions{HostDir: hosts.HostDirFromRoot(folder)})
	got.Hosts = map[string][]host{}
	for _, reference := range references {
		found, err := find(reference)
		if err != nil {
			return err
		}
		for _, one := range found {
			var able []string
			for name, capability := range capabilities {
				if one.Capabilities.Has(capability) {
					able = append(able, name)
				}
			}
			slices.Sort(able)
			got.Hosts[reference] = append(got.Hosts[reference], host{one.Scheme, one.Host, one.Path, able, one.Header})
		}
	}
	return nil
}
