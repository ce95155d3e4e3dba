// Command kubeadm_provider renders one KubeadmConfig exactly as Cluster API's kubeadm bootstrap provider does.
//
// It holds glue only: conversion, kubeadm documents and user data are made by the provider's published module; what the
// provider's controller reads from Machine, Cluster and Secrets comes in the request instead. Standard input is a
// request as JSON, standard output the user data.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	bootstrapv1beta1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta1"
	bootstrapv1 "sigs.k8s.io/cluster-api/api/bootstrap/kubeadm/v1beta2"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/cloudinit"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/ignition"
	kubeadmtypes "sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/pkg/types/upstream"
	"sigs.k8s.io/cluster-api/bootstrap/kubeadm/webhooks/conversion"
	"sigs.k8s.io/cluster-api/util/certs"
	"sigs.k8s.io/cluster-api/util/secret"
)

// request is a KubeadmConfigSpec and the facts that belong to it.
type request struct {
	Role                 string            `json:"role"` // init, control-plane or worker
	KubernetesVersion    string            `json:"kubernetes_version"`
	ClusterName          string            `json:"cluster_name"`
	ControlPlaneEndpoint string            `json:"control_plane_endpoint"`
	ServiceDomain        string            `json:"service_domain"`
	PodSubnet            string            `json:"pod_subnet"`
	ServiceSubnet        string            `json:"service_subnet"`
	Format               string            `json:"format"`      // cloud-config or ignition; empty: what the spec says
	APIVersion           string            `json:"api_version"` // of the spec: v1beta1 or v1beta2
	Spec                 json.RawMessage   `json:"spec"`
	PKI                  map[string]string `json:"pki"` // PEM by file name below /etc/kubernetes/pki
}

var pkiFiles = map[secret.Purpose][2]string{
	secret.ClusterCA:      {"ca.crt", "ca.key"},
	secret.EtcdCA:         {"etcd/ca.crt", "etcd/ca.key"},
	secret.FrontProxyCA:   {"front-proxy-ca.crt", "front-proxy-ca.key"},
	secret.ServiceAccount: {"sa.pub", "sa.key"},
}

func main() {
	var in request
	decoder := json.NewDecoder(os.Stdin)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&in)
	var out []byte
	if err == nil {
		out, err = render(in)
	}
	if err == nil {
		_, err = os.Stdout.Write(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func render(in request) ([]byte, error) {
	spec, err := load(in)
	if err != nil {
		return nil, err
	}
	version, err := semver.ParseTolerant(in.KubernetesVersion)
	if err != nil {
		return nil, err
	}
	base := baseUserData(spec, version)
	switch in.Role {
	case "init":
		return renderInit(in, spec, base, version)
	case "control-plane":
		return renderControlPlaneJoin(in, spec, base, version)
	case "worker":
		return renderWorker(spec, base, version)
	}
	return nil, fmt.Errorf("unknown role %q", in.Role)
}

func load(in request) (*bootstrapv1.KubeadmConfigSpec, error) {
	config := &bootstrapv1.KubeadmConfig{}
	switch in.APIVersion {
	case "v1beta1":
		old := &bootstrapv1beta1.KubeadmConfig{}
		if err := json.Unmarshal(in.Spec, &old.Spec); err != nil {
			return nil, err
		}
		if err := conversion.ConvertKubeadmConfigV1Beta1ToHub(context.Background(), old, config); err != nil {
			return nil, err
		}
	case "v1beta2":
		if err := json.Unmarshal(in.Spec, &config.Spec); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("unknown API version %q", in.APIVersion)
	}
	if in.Format != "" {
		config.Spec.Format = bootstrapv1.Format(in.Format)
	}
	return &config.Spec, nil
}

func baseUserData(spec *bootstrapv1.KubeadmConfigSpec, version semver.Version) cloudinit.BaseUserData {
	base := cloudinit.BaseUserData{
		AdditionalFiles: spec.Files, BootCommands: spec.BootCommands, PreKubeadmCommands: spec.PreKubeadmCommands,
		PostKubeadmCommands: spec.PostKubeadmCommands, Users: spec.Users, Mounts: spec.Mounts, KubernetesVersion: version,
	}
	if spec.Verbosity != nil {
		base.KubeadmVerbosity = "--v " + strconv.Itoa(int(*spec.Verbosity))
	}
	if spec.NTP.IsDefined() {
		base.NTP = &spec.NTP
	}
	if spec.DiskSetup.IsDefined() {
		base.DiskSetup = &spec.DiskSetup
	}
	return base
}

func renderInit(in request, spec *bootstrapv1.KubeadmConfigSpec, base cloudinit.BaseUserData, version semver.Version) ([]byte, error) {
	if spec.ClusterConfiguration.ControlPlaneEndpoint == "" {
		spec.ClusterConfiguration.ControlPlaneEndpoint = in.ControlPlaneEndpoint
	}
	facts := &upstream.AdditionalData{
		ClusterName: set(in.ClusterName), KubernetesVersion: set(in.KubernetesVersion), DNSDomain: set(in.ServiceDomain),
		PodSubnet: set(in.PodSubnet), ServiceSubnet: set(in.ServiceSubnet),
		// v1beta3 has this timeout in the other document: the controller carries it over.
		ControlPlaneComponentHealthCheckSeconds: spec.InitConfiguration.Timeouts.ControlPlaneComponentHealthCheckSeconds,
	}
	cluster, err := kubeadmtypes.MarshalClusterConfigurationForVersion(&spec.ClusterConfiguration, version, facts)
	if err != nil {
		return nil, err
	}
	node, err := kubeadmtypes.MarshalInitConfigurationForVersion(&spec.InitConfiguration, version)
	if err != nil {
		return nil, err
	}
	input := &cloudinit.ControlPlaneInput{
		BaseUserData: base, ClusterConfiguration: cluster, InitConfiguration: node,
		Certificates: filled(secret.NewCertificatesForInitialControlPlane(&spec.ClusterConfiguration), in.PKI),
	}
	if spec.Format == bootstrapv1.Ignition {
		out, _, err := ignition.NewInitControlPlane(&ignition.ControlPlaneInput{ControlPlaneInput: input, Ignition: &spec.Ignition})
		return out, err
	}
	return cloudinit.NewInitControlPlane(input)
}

func renderControlPlaneJoin(in request, spec *bootstrapv1.KubeadmConfigSpec, base cloudinit.BaseUserData, version semver.Version) ([]byte, error) {
	if spec.JoinConfiguration.ControlPlane == nil {
		spec.JoinConfiguration.ControlPlane = &bootstrapv1.JoinControlPlane{}
	}
	join, err := kubeadmtypes.MarshalJoinConfigurationForVersion(&spec.JoinConfiguration, version)
	if err != nil {
		return nil, err
	}
	input := &cloudinit.ControlPlaneJoinInput{
		BaseUserData: base, JoinConfiguration: join,
		Certificates: filled(secret.NewControlPlaneJoinCerts(&spec.ClusterConfiguration), in.PKI),
	}
	if spec.Format == bootstrapv1.Ignition {
		out, _, err := ignition.NewJoinControlPlane(&ignition.ControlPlaneJoinInput{ControlPlaneJoinInput: input, Ignition: &spec.Ignition})
		return out, err
	}
	return cloudinit.NewJoinControlPlane(input)
}

func renderWorker(spec *bootstrapv1.KubeadmConfigSpec, base cloudinit.BaseUserData, version semver.Version) ([]byte, error) {
	// The controller adds this taint to every worker that joins.
	taints := append([]corev1.Taint{}, ptr.Deref(spec.JoinConfiguration.NodeRegistration.Taints, nil)...)
	taints = append(taints, clusterv1.NodeUninitializedTaint)
	spec.JoinConfiguration.NodeRegistration.Taints = &taints
	join, err := kubeadmtypes.MarshalJoinConfigurationForVersion(&spec.JoinConfiguration, version)
	if err != nil {
		return nil, err
	}
	input := &cloudinit.NodeInput{BaseUserData: base, JoinConfiguration: join}
	if spec.Format == bootstrapv1.Ignition {
		out, _, err := ignition.NewNode(&ignition.NodeInput{NodeInput: input, Ignition: &spec.Ignition})
		return out, err
	}
	return cloudinit.NewNode(input)
}

func filled(certificates secret.Certificates, pki map[string]string) secret.Certificates {
	for _, one := range certificates {
		files := pkiFiles[one.Purpose]
		one.KeyPair = &certs.KeyPair{Cert: []byte(pki[files[0]]), Key: []byte(pki[files[1]])}
	}
	return certificates
}

func set(value string) *string {
	if value == "" {
		return nil
	}
	return &value
}
