package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/k3s-io/cluster-api-k3s/pkg/etcd"
	"github.com/k3s-io/cluster-api-k3s/pkg/k3s"
	"github.com/k3s-io/cluster-api-k3s/pkg/secret"
	"sigs.k8s.io/yaml"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

const defaultInstallScript = "/opt/install.sh"

// plan is a request, and where each of its fields stands in the KThreesConfig.
type plan struct {
	world   *world
	request *pb.ProvisionRequest
	names   map[string]string
	given   map[string]bool
}

// newPlan makes of a KThreesConfig what the provider's own cloud-init template makes of it: files, an install command,
// and the commands around it. The template is the only part of the provider that this replaces.
func newPlan(w *world, target *pb.Target, provisioner string) (*plan, error) {
	p := &plan{world: w, given: map[string]bool{}, names: map[string]string{
		// What is the config's as a whole; the parts below have longer names.
		"machineName": "the Machine's metadata.name", "spec.os": "spec", "spec.commands": "spec", "spec.plan": "spec",
		"spec.target": "the flags of the target", "spec.target.osFamily": "--os-family",
		"spec.target.distribution": "--distribution", "spec.target.osVersion": "--os-version",
		"spec.target.infrastructure": "--infrastructure", "spec.provisioner": "--provisioner", "spec.os.files": "spec.files",
	}}
	name, uid := w.machine.Name, string(w.machine.UID)
	p.request = &pb.ProvisionRequest{
		MachineName: &name, MachineUid: &uid, Secrets: &pb.SecretMaterial{}, AcceptGzip: true,
		Spec: &pb.ProvisioningSpec{
			Target: target, Os: &pb.OperatingSystem{}, Commands: &pb.Commands{}, Plan: &pb.Plan{},
			// What cloud-init does with the lines of runcmd: a failed one does not keep the next from running, and the
			// machine counts as bootstrapped once k3s is installed.
			Execution: &pb.ExecutionPolicy{
				OnBootstrapFailure: pb.FailurePolicy_FAILURE_POLICY_CONTINUE.Enum(),
				OnPostFailure:      pb.FailurePolicy_FAILURE_POLICY_CONTINUE.Enum(),
				Sentinel:           pb.SentinelTime_SENTINEL_TIME_AFTER_BOOTSTRAP.Enum(),
			},
		},
	}
	if provisioner != "" {
		p.request.Spec.Provisioner = &pb.ProvisionerChoice{Name: &provisioner}
	}
	return p, errors.Join(p.certificates(), p.files(), p.etcdProxy(), p.config(), p.steps())
}

// certificates are the cluster's, for the machine that makes it.
func (p *plan) certificates() error {
	if p.world.initialized() {
		return nil
	}
	for _, certificate := range secret.NewCertificatesForInitialControlPlane(&p.world.config.Spec) {
		name := secret.Name(p.world.cluster.Name, certificate.Purpose)
		for _, half := range []struct {
			path, key string
			mode      uint32
		}{{certificate.CertFile, secret.TLSCrtDataName, 0o640}, {certificate.KeyFile, secret.TLSKeyDataName, 0o600}} {
			reference, err := p.secret(name, half.key)
			if err != nil {
				return err
			}
			p.ownFile("spec", half.path, half.mode, reference)
		}
	}
	return nil
}

// etcdProxy is the manifest with which the management cluster reaches etcd.
func (p *plan) etcdProxy() error {
	if !p.world.controlPlane() {
		return nil
	}
	text, err := etcdProxyManifest(p.world.config.Spec.ServerConfig)
	p.ownFile("spec.serverConfig", etcd.EtcdProxyDaemonsetYamlLocation, 0o640, text)
	return err
}

// config is the file of k3s. The token stands in it by reference: no line of this program ever puts a secret into text.
func (p *plan) config() error {
	spec, endpoint := p.world.config.Spec, p.world.cluster.Spec.ControlPlaneEndpoint
	server := "https://" + endpoint.String()
	var settings any = k3s.GenerateWorkerConfig(server, "", spec.ServerConfig, spec.AgentConfig)
	if p.world.controlPlane() {
		settings = k3s.GenerateJoinControlPlaneConfig(server, "", endpoint.Host, spec.ServerConfig, spec.AgentConfig)
		if !p.world.initialized() {
			settings = k3s.GenerateInitControlPlaneConfig(endpoint.Host, "", spec.ServerConfig, spec.AgentConfig)
		}
	}
	text, err := yaml.Marshal(settings)
	if err != nil {
		return err
	}
	segments, err := p.segments("spec.agentConfig", string(text))
	if err != nil {
		return err
	}
	token, err := p.secret(p.world.cluster.Name+"-token", "value")
	if err != nil {
		return err
	}
	token.Encoding = pb.SpliceEncoding_SPLICE_ENCODING_JSON_STRING.Enum()
	segments = append(segments, literal("token: "), token, literal("\n"))
	p.ownFile("spec", k3s.DefaultK3sConfigLocation, 0o640, segments...)
	return nil
}

// steps are the commands. Today they are lines of one script, so that a variable that one of them exports is seen by the
// installation, too: it stays one script up to there.
func (p *plan) steps() error {
	spec := p.world.config.Spec
	var lines []*pb.Segment
	for index, command := range spec.PreK3sCommands {
		segments, err := p.segments(fmt.Sprintf("spec.preK3sCommands[%d]", index), command+"\n")
		if err != nil {
			return err
		}
		lines = append(lines, segments...)
	}
	install, err := p.install()
	if err != nil {
		return err
	}
	p.request.Spec.Plan.Steps = []*pb.Step{{
		Id: text("k3s"), Phase: pb.Phase_PHASE_BOOTSTRAP.Enum(), Command: script(append(lines, literal(install))),
	}}
	// What is wrong with the script as a whole is named where its first line stands.
	p.names["spec.plan.steps[0]"] = "spec.version"
	if spec.AgentConfig.AirGapped {
		p.names["spec.plan.steps[0]"] = "spec.agentConfig.airGapped"
	}
	if len(spec.PreK3sCommands) > 0 {
		p.names["spec.plan.steps[0]"] = "spec.preK3sCommands"
	}
	for index, command := range spec.PostK3sCommands {
		place := fmt.Sprintf("spec.postK3sCommands[%d]", index)
		segments, err := p.segments(place, command+"\n")
		if err != nil {
			return err
		}
		p.request.Spec.Commands.Post = append(p.request.Spec.Commands.Post, script(segments))
		p.names[fmt.Sprintf("spec.commands.post[%d]", index)] = place
	}
	return nil
}

// install is the command that makes the host a node.
func (p *plan) install() (string, error) {
	agent, role := p.world.config.Spec.AgentConfig, "agent"
	if p.world.controlPlane() {
		role = "server"
	}
	if agent.AirGapped {
		path := agent.AirGappedInstallScriptPath
		if path == "" {
			path = defaultInstallScript
		}
		return fmt.Sprintf("INSTALL_K3S_SKIP_DOWNLOAD=true INSTALL_K3S_EXEC='%s' sh %s\n", role, path), nil
	}
	version := p.world.config.Spec.Version
	if version == "" && p.world.machine.Spec.Version != nil {
		version = *p.world.machine.Spec.Version
	}
	if strings.ContainsAny(version, " \t\n;&|$`'\"\\") {
		return "", invalid("spec.version", "must be a version of k3s")
	}
	return fmt.Sprintf("curl -sfL https://get.k3s.io | INSTALL_K3S_VERSION=%s sh -s - %s\n", version, role), nil
}

func script(segments []*pb.Segment) *pb.Command {
	return &pb.Command{
		Script: &pb.Content{Segments: segments}, Interpreter: pb.Interpreter_INTERPRETER_SH.Enum(),
	}
}

func text(value string) *string { return &value }

func literal(value string) *pb.Segment {
	return &pb.Segment{Value: &pb.Segment_Text{Text: value}}
}

func invalid(path, why string) error { return fmt.Errorf("%s: %s", path, why) }
