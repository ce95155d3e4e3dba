// A provisioner for Bottlerocket: it turns a bundle into the settings file with which a worker joins its cluster.
package main

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"slipway.dev/sdk/provisioner"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

// hostContainers is an extension: TOML, the tables that stand below settings.host-containers.
const hostContainers = "bottlerocket.example.com/host-containers"

// taken is what a bundle may ask for; some of it has only one value that it may have.
const taken = `
	kubernetes.role kubernetes.role.worker kubernetes.version kubernetes.credentials
	kubernetes.cluster kubernetes.cluster.name kubernetes.cluster.endpoint kubernetes.cluster.pod_cidrs
	kubernetes.cluster.service_cidrs kubernetes.cluster.service_domain kubernetes.cluster.control_plane=kubeadm
	kubernetes.node.name kubernetes.node.labels kubernetes.node.taints kubernetes.node.kubelet_arguments
	kubernetes.node.provider_id kubernetes.node.node_ip
	os.sysctls os.kernel.modules os.hostname os.ntp os.ntp.enabled=true os.ntp.servers os.proxy os.trusted_certificates
	os.containerd os.containerd.registries os.containerd.registries.credentials
	os.containerd.cgroup_driver=CGROUP_DRIVER_SYSTEMD os.containerd.sandbox_image
	ext.` + hostContainers

func main() {
	provisioner.Main(bottlerocket())
}

func bottlerocket() provisioner.Provisioner {
	return provisioner.Provisioner{
		Name:             "bottlerocket.example.com",
		Version:          "0.1.0",
		DocumentationURL: "https://bottlerocket.dev/en/os/latest/api/settings/",
		Render:           render,
		Formats: []*pb.FormatInfo{{
			Format:          "bottlerocket/v1",
			MediaType:       "application/toml",
			FileExtension:   "toml",
			KubernetesInput: pb.KubernetesInput_KUBERNETES_INPUT_INTENT,
			Features:        features(),
			OsFamilies:      []pb.OsFamily{pb.OsFamily_OS_FAMILY_LINUX},
			DefaultTarget: &pb.Target{
				OsFamily:     pb.OsFamily_OS_FAMILY_LINUX.Enum(),
				Distribution: proto.String("bottlerocket"),
				Architecture: proto.String("amd64"),
			},
			AcceptsGzip: true, // its early-boot-config unpacks user data
			Verbatim:    true, // and reads nothing but TOML
		}},
	}
}

func features() (all []*pb.FeatureSupport) {
	for _, word := range strings.Fields(taken) {
		id, only, bounded := strings.Cut(word, "=")
		support := &pb.FeatureSupport{Id: id}
		if bounded {
			support.AllowedValues = []string{only}
		}
		all = append(all, support)
	}
	return all
}
