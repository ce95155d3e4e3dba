package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"slipway.dev/sdk/provisioner"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

const node = "intent.kubernetes.node"

var (
	hostname   = regexp.MustCompile(`^[0-9a-z][0-9a-z-]{0,62}(\.[0-9a-z][0-9a-z-]{0,62})*$`)
	identifier = regexp.MustCompile(`^[A-Za-z0-9-]{1,63}$`)
	sysctl     = regexp.MustCompile(`^[a-zA-Z0-9./_-]{1,128}$`)
	// Labels that no kubelet may give itself, and those of them that it may: it would not start. Source: its own check.
	reserved = regexp.MustCompile(`^([^/]*\.)?(kubernetes\.io|k8s\.io)/`)
	ownLabel = regexp.MustCompile(`^([^/]*\.)?(kubelet|node)\.kubernetes\.io/|^(beta\.)?kubernetes\.io/(hostname|os|arch)$|` +
		`^beta\.kubernetes\.io/instance-type$|^(topology|failure-domain\.beta)\.kubernetes\.io/(zone|region)$`)
	effects = map[pb.TaintEffect]string{
		pb.TaintEffect_TAINT_EFFECT_NO_SCHEDULE:        "NoSchedule",
		pb.TaintEffect_TAINT_EFFECT_PREFER_NO_SCHEDULE: "PreferNoSchedule",
		pb.TaintEffect_TAINT_EFFECT_NO_EXECUTE:         "NoExecute",
	}
)

// rendering is one bundle on its way to a settings file. The settings are those of Bottlerocket's own models
// (bottlerocket-settings-sdk); https://bottlerocket.dev/en/os/latest/api/settings/ tells what they mean.
type rendering struct {
	*provisioner.Rendering
	settings map[string]any
}

func render(of *provisioner.Rendering) ([]byte, error) {
	if distribution := of.Target.GetDistribution(); distribution != "" && distribution != "bottlerocket" {
		return nil, provisioner.UnsupportedTarget("target.distribution", "must be bottlerocket for this format")
	}
	r := &rendering{Rendering: of, settings: map[string]any{}}
	r.join(of.Bundle.GetIntent())
	r.node(of.Bundle.GetIntent().GetKubernetes().GetNode())
	r.system(of.Bundle.GetOs())
	r.containerd(of.Bundle.GetOs().GetContainerd())
	for index, one := range of.Bundle.GetExtensions() {
		r.containers(one.GetContent(), fmt.Sprintf("extensions[%d].content", index))
	}
	return toml.Marshal(map[string]any{"settings": r.settings})
}

// set puts a value into a table below settings, e.g. "kubernetes.node-labels".
func (r *rendering) set(table, key string, value any) {
	at := r.settings
	for name := range strings.SplitSeq(table, ".") {
		if at[name] == nil {
			at[name] = map[string]any{}
		}
		at = at[name].(map[string]any)
	}
	at[key] = value
}

// say is set for a text that may be absent: then it is as the image has it.
func (r *rendering) say(table, key, text string) {
	if text != "" {
		r.set(table, key, text)
	}
}

func (r *rendering) refuse(bad bool, path, feature, why string) {
	if bad {
		r.Refuse(path, feature, why)
	}
}

// text gives a secret that a TOML string can hold, on one line.
func (r *rendering) text(reference *pb.SecretReference, path string) string {
	text := string(r.Secret(reference, path))
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		r.Invalid(path, "refers to a secret that is not one line of UTF-8")
	}
	return text
}

// join says where the cluster is, why to trust it, and with which token to join.
func (r *rendering) join(intent *pb.Intent) {
	const table = "kubernetes"
	cluster, credentials := intent.GetCluster(), intent.GetCredentials()
	if intent.GetRole() != pb.Role_ROLE_WORKER || cluster.GetEndpoint().GetHost() == "" {
		r.Invalid("intent", "must be that of a worker, with the endpoint of its cluster")
	}
	port := 6443
	if said := cluster.GetEndpoint().GetPort(); said != 0 {
		port = int(said)
	}
	r.set(table, "api-server", "https://"+net.JoinHostPort(strings.Trim(cluster.GetEndpoint().GetHost(), "[]"), strconv.Itoa(port)))
	authority := r.Secret(credentials.GetClusterCa().GetCertificate(), "intent.credentials.cluster_ca.certificate")
	r.set(table, "cluster-certificate", base64.StdEncoding.EncodeToString(authority))
	r.set(table, "authentication-mode", "tls")
	r.set(table, "bootstrap-token", r.text(credentials.GetBootstrapToken(), "intent.credentials.bootstrap_token"))
	r.refuse(strings.Contains(cluster.GetName(), "."), "intent.cluster.name", "kubernetes.cluster.name", "has a dot")
	r.say(table, "cluster-name", cluster.GetName())
	r.say(table, "cluster-domain", cluster.GetServiceDomain())
	r.refuse(cluster.GetControlPlane() != "" && cluster.GetControlPlane() != "kubeadm", "intent.cluster.control_plane",
		"kubernetes.cluster.control_plane", "is not supported: Bottlerocket cannot join it")
	if networks := cluster.GetServiceCidrs(); len(networks) == 0 {
		r.Remark(pb.Severity_SEVERITY_WARNING, "CLUSTER_DNS_UNKNOWN",
			"The image guesses where the cluster's DNS is: the cluster does not say its service networks.", "intent.cluster")
	} else if network, err := netip.ParsePrefix(networks[0]); err != nil {
		r.Invalid("intent.cluster.service_cidrs[0]", "must be a network in CIDR notation")
	} else { // kubeadm gives the DNS the tenth address of the first network.
		address := network.Masked().Addr()
		for range 10 {
			address = address.Next()
		}
		r.set(table, "cluster-dns-ip", address.String())
	}
	r.Remark(pb.Severity_SEVERITY_INFO, "KUBERNETES_VERSION_IN_IMAGE",
		"User data cannot choose the version of Kubernetes: boot the image of its variant.", "intent.kubernetes_version")
}

func (r *rendering) node(one *pb.NodeRegistration) {
	const table = "kubernetes"
	r.name(one.GetName(), table, "hostname-override", node+".name", "kubernetes.node.name")
	r.say(table, "provider-id", literal(one.GetProviderId()))
	r.say(table, "node-ip", literal(one.GetNodeIp()))
	for index, label := range one.GetLabels() {
		bad := reserved.MatchString(label.GetName()) && !ownLabel.MatchString(label.GetName())
		r.refuse(bad, fmt.Sprintf("%s.labels[%d]", node, index), "kubernetes.node.labels", "is one that no worker may give itself")
		r.set("kubernetes.node-labels", label.GetName(), label.GetValue())
	}
	taints := map[string][]string{}
	for index, taint := range one.GetTaints().GetItems() {
		effect, known := effects[taint.GetEffect()]
		if !known {
			r.Invalid(fmt.Sprintf("%s.taints.items[%d].effect", node, index), "is not a known effect")
		}
		taints[taint.GetKey()] = append(taints[taint.GetKey()], taint.GetValue()+":"+effect)
		r.set(table, "node-taints", taints)
	}
	for index, argument := range one.GetKubeletArguments() {
		value, path, feature := argument.GetValue(), fmt.Sprintf("%s.kubelet_arguments[%d]", node, index), "kubernetes.node.kubelet_arguments"
		number, err := strconv.ParseUint(value, 10, 31)
		level, noLevel := strconv.ParseUint(value, 10, 8)
		switch argument.GetName() {
		case "cloud-provider":
			r.refuse(value != "external" && value != "aws", path, feature, "must be external or aws")
			r.set(table, "cloud-provider", value)
		case "max-pods":
			r.refuse(err != nil, path, feature, "must be a number")
			r.set(table, "max-pods", number)
		case "v":
			r.refuse(noLevel != nil, path, feature, "must be a number up to 255")
			r.set(table, "log-level", level)
		default:
			r.refuse(true, path, feature, "is not among the kubelet's arguments that Bottlerocket has a setting for")
		}
	}
}

func (r *rendering) system(system *pb.OperatingSystem) {
	for index, one := range system.GetSysctls() {
		r.refuse(!sysctl.MatchString(one.GetName()), fmt.Sprintf("os.sysctls[%d]", index), "os.sysctls", "has a name that is too long or strange")
		r.set("kernel.sysctl", one.GetName(), one.GetValue())
	}
	for _, one := range system.GetKernelModules() {
		r.set("kernel.modules", one.GetName(), map[string]any{"allowed": true, "autoload": true})
	}
	r.name(system.GetHostname().GetName(), "network", "hostname", "os.hostname", "os.hostname")
	if clock := system.GetNtp(); clock != nil {
		r.refuse(clock.Enabled != nil && !clock.GetEnabled(), "os.ntp.enabled", "os.ntp.enabled", "cannot be turned off")
		if len(clock.Servers) > 0 {
			r.set("ntp", "time-servers", clock.Servers)
		}
	}
	if proxy := system.GetProxy(); proxy != nil {
		r.refuse(proxy.HttpProxy != nil, "os.proxy.http_proxy", "os.proxy", "is no setting: there is one proxy, https_proxy")
		r.say("network", "https-proxy", proxy.GetHttpsProxy())
		if len(proxy.NoProxy) > 0 {
			r.set("network", "no-proxy", proxy.NoProxy)
		}
	}
	for index, one := range system.GetTrustedCertificates() {
		pem := r.Content(one.GetCertificate(), fmt.Sprintf("os.trusted_certificates[%d].certificate", index))
		bundle := map[string]any{"data": base64.StdEncoding.EncodeToString(pem), "trusted": true}
		r.set("pki", one.GetName(), bundle)
	}
}

func (r *rendering) containerd(runtime *pb.Containerd) {
	systemd := runtime.GetCgroupDriver() == pb.CgroupDriver_CGROUP_DRIVER_SYSTEMD
	r.refuse(runtime.GetCgroupDriver() != 0 && !systemd, "os.containerd.cgroup_driver", "os.containerd.cgroup_driver", "must be systemd")
	r.say("kubernetes", "pod-infra-container-image", runtime.GetSandboxImage())
	var mirrors, credentials []map[string]any
	for index, one := range runtime.GetRegistries() {
		path := fmt.Sprintf("os.containerd.registries[%d]", index)
		var urls []string
		for _, endpoint := range one.GetEndpoints() {
			urls = append(urls, endpoint.GetUrl())
		}
		if len(urls) > 0 {
			mirrors = append(mirrors, map[string]any{"registry": everything(one.GetHost()), "endpoint": urls})
			r.set("container-registry", "mirrors", mirrors)
		}
		if login := one.GetCredentials(); login != nil {
			password := r.text(login.GetPassword().GetSecretRef(), path+".credentials.password.secret_ref")
			credentials = append(credentials,
				map[string]any{"registry": one.GetHost(), "username": login.GetUsername(), "password": password})
			r.set("container-registry", "credentials", credentials)
		}
	}
}

// containers takes the extension. It is read strictly: Bottlerocket does not boot with a setting that it does not know.
func (r *rendering) containers(content *pb.Content, path string) {
	found := map[string]hostContainer{}
	err := toml.NewDecoder(bytes.NewReader(r.Content(content, path))).DisallowUnknownFields().Decode(&found)
	r.refuse(err != nil, path, "ext."+hostContainers, "must be TOML: a table for each host container, with its settings")
	for name, one := range found {
		_, err := base64.StdEncoding.DecodeString(one.UserData)
		r.refuse(err != nil || one.Source == "" || !identifier.MatchString(name), path, "ext."+hostContainers,
			"has a host container without source, with an invalid name, or with user-data that is not base64")
		r.set("host-containers", name, one)
	}
}

type hostContainer struct {
	Source       string   `toml:"source"`
	Enabled      *bool    `toml:"enabled,omitempty"`
	Superpowered *bool    `toml:"superpowered,omitempty"`
	UserData     string   `toml:"user-data,omitempty"`
	Command      []string `toml:"command,omitempty"`
}

func (r *rendering) name(text *pb.MachineText, table, key, path, feature string) {
	name := literal(text)
	r.refuse(name != "" && !hostname.MatchString(name), path, feature, "must be a host name in lower case")
	r.say(table, key, name)
}

// literal gives a text; facts in it are not declared, so there are none.
func literal(text *pb.MachineText) string {
	joined := text.GetValue()
	for _, part := range text.GetSegments() {
		joined += part.GetText()
	}
	return joined
}

func everything(host string) string {
	if host == "_default" {
		return "*"
	}
	return host
}
