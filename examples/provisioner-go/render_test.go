package main

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"slipway.dev/sdk/provisioner"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

const worker = `
	intent {
		role: ROLE_WORKER
		kubernetes_version: "v1.34.2"
		cluster { name: "reef" endpoint { host: "api.example.com" } service_cidrs: "10.96.0.0/12" }
		credentials {
			cluster_ca { certificate { name: "ca" key: "tls.crt" } }
			bootstrap_token { name: "token" key: "token" }
		}
	}
	secrets {
		secrets { name: "ca" key: "tls.crt" value: "PEM" }
		secrets { name: "token" key: "token" value: "abcdef.0123456789abcdef" }
		secrets { name: "p" key: "p" value: "it's \"1\"" }
	}`

// rendered merges a part into the bundle of a worker and gives the user data.
func rendered(t *testing.T, part string) ([]byte, error) {
	t.Helper()
	bundle, more := &pb.BootstrapBundle{}, &pb.BootstrapBundle{}
	if err := errors.Join(prototext.Unmarshal([]byte(worker), bundle), prototext.Unmarshal([]byte(part), more)); err != nil {
		t.Fatal(err)
	}
	bundle.FeaturesComputed = true
	proto.Merge(bundle, more)
	answer, err := provisioner.Try(bottlerocket(), bundle)
	return answer.GetUserData(), err
}

func paths(err error) (found []string) {
	for _, detail := range status.Convert(err).Details() {
		if fields, is := detail.(*errdetails.BadRequest); is {
			for _, one := range fields.FieldViolations {
				found = append(found, one.Field)
			}
		}
	}
	return found
}

// at looks a path up, its parts separated by spaces.
func at(settings map[string]any, path string) any {
	var value any = settings
	for part := range strings.FieldsSeq(path) {
		table, _ := value.(map[string]any)
		value = table[part]
	}
	return value
}

func TestEveryItemBecomesItsSetting(t *testing.T) {
	for _, one := range []struct {
		part, path string
		want       any
	}{
		{"", "kubernetes api-server", "https://api.example.com:6443"},
		{`intent { cluster { endpoint { host: "fd00::1" port: 443 } } }`, "kubernetes api-server", "https://[fd00::1]:443"},
		{`intent { cluster { endpoint { host: "[fd00::1]" port: 443 } } }`, "kubernetes api-server", "https://[fd00::1]:443"},
		{"", "kubernetes cluster-certificate", base64.StdEncoding.EncodeToString([]byte("PEM"))},
		{"", "kubernetes bootstrap-token", "abcdef.0123456789abcdef"},
		{"", "kubernetes authentication-mode", "tls"},
		{"", "kubernetes cluster-dns-ip", "10.96.0.10"},
		{`intent { cluster { service_domain: "c.local" } }`, "kubernetes cluster-domain", "c.local"},
		{"", "kernel", nil},
		{`intent { kubernetes { node { name { value: "n" } } } }`, "kubernetes hostname-override", "n"},
		{`intent { kubernetes { node { labels { name: "a/b" } } } }`, "kubernetes node-labels a/b", ""},
		{`intent { kubernetes { node { taints { items { key: "k" effect: TAINT_EFFECT_NO_EXECUTE } items { key: "k" value: "v" effect: TAINT_EFFECT_NO_SCHEDULE } } } } }`,
			"kubernetes node-taints k", []any{":NoExecute", "v:NoSchedule"}},
		{`intent { kubernetes { node { kubelet_arguments { name: "max-pods" value: "50" } } } }`, "kubernetes max-pods", int64(50)},
		{`intent { kubernetes { node { kubelet_arguments { name: "v" value: "4" } } } }`, "kubernetes log-level", int64(4)},
		{`os { kernel_modules { name: "sctp" } }`, "kernel modules sctp", map[string]any{"allowed": true, "autoload": true}},
		{`os { hostname { name { segments { text: "a" } segments { text: "b" } } } }`, "network hostname", "ab"},
		{`os { proxy { https_proxy: "http://p:1" no_proxy: "a" } }`, "network", map[string]any{"https-proxy": "http://p:1", "no-proxy": []any{"a"}}},
		{`os { trusted_certificates { name: "c" certificate { segments { data: "X" } } } }`, "pki c", map[string]any{"data": "WA==", "trusted": true}},
		{`os { containerd { registries { host: "_default" endpoints { url: "https://m" } } } }`, "container-registry mirrors",
			[]any{map[string]any{"registry": "*", "endpoint": []any{"https://m"}}}},
		{`os { containerd { registries { host: "h" credentials { username: "u" password { secret_ref { name: "p" key: "p" } } } } } }`,
			"container-registry credentials", []any{map[string]any{"registry": "h", "username": "u", "password": `it's "1"`}}},
		{`extensions { id: "` + hostContainers + `" content { segments { data: "[admin]\nenabled = true\nsource = 'i'" } } }`,
			"host-containers admin", map[string]any{"enabled": true, "source": "i"}},
	} {
		data, err := rendered(t, one.part)
		var found struct{ Settings map[string]any }
		if err := errors.Join(err, toml.Unmarshal(data, &found)); err != nil {
			t.Errorf("%s: %v", one.part, err)
			continue
		}
		got, _ := toml.Marshal(map[string]any{"x": at(found.Settings, one.path)})
		want, _ := toml.Marshal(map[string]any{"x": one.want})
		if string(got) != string(want) {
			t.Errorf("%s: %s is\n%s and not\n%s", one.part, one.path, got, want)
		}
	}
}

func TestWhatHasNoSettingIsRefusedByItsPath(t *testing.T) {
	for _, one := range []struct{ part, path string }{
		{`intent { kubernetes { node { labels { name: "node-role.kubernetes.io/x" } } } }`, "intent.kubernetes.node.labels[0]"},
		{`intent { kubernetes { node { kubelet_arguments { name: "tls-min-version" value: "9" } } } }`, "intent.kubernetes.node.kubelet_arguments[0]"},
		{`intent { kubernetes { node { kubelet_arguments { name: "max-pods" value: "many" } } } }`, "intent.kubernetes.node.kubelet_arguments[0]"},
		{`intent { kubernetes { node { taints { items { key: "k" effect: 99 } } } } }`, "intent.kubernetes.node.taints.items[0].effect"},
		{`intent { cluster { control_plane: "talos" } }`, "intent.cluster.control_plane"},
		{`intent { cluster { name: "a.b" } }`, "intent.cluster.name"},
		{`intent { role: ROLE_INIT }`, "intent"},
		{`intent { credentials { bootstrap_token { name: "none" } } }`, "intent.credentials.bootstrap_token"},
		{`os { ntp { enabled: false } }`, "os.ntp.enabled"},
		{`os { proxy { http_proxy: "http://p:1" } }`, "os.proxy.http_proxy"},
		{`os { hostname { name { value: "UPPER" } } }`, "os.hostname"},
		{`os { sysctls { name: "` + strings.Repeat("a", 129) + `" value: "1" } }`, "os.sysctls[0]"},
		{`os { containerd { cgroup_driver: 99 } }`, "os.containerd.cgroup_driver"},
		{`os { containerd { cgroup_driver: CGROUP_DRIVER_CGROUPFS } }`, "os.containerd.cgroup_driver"},
		{`extensions { id: "` + hostContainers + `" content { segments { data: "[admin]\nsource = 'i'\nunknown = 1" } } }`, "extensions[0].content"},
	} {
		_, err := rendered(t, one.part)
		if got := paths(err); len(got) != 1 || got[0] != one.path {
			t.Errorf("%s: refused %v and not %s", one.part, got, one.path)
		}
	}
}

func TestTheSameBundleGivesTheSameBytes(t *testing.T) {
	part := `os { sysctls { name: "b.c" value: "1" } sysctls { name: "a.b" value: "2" } kernel_modules { name: "z" } kernel_modules { name: "y" } }`
	first, err := rendered(t, part)
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		if again, _ := rendered(t, part); string(again) != string(first) {
			t.Fatal("the order of tables changes")
		}
	}
}
