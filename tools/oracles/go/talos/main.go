// Command talos lets Talos' own machinery judge a machine configuration.
//
// It holds glue only: every verdict is that of the Talos module named in go.mod (newest) or go-1.11.mod (older).
// Standard input is the configuration, standard output one JSON document; the status is 1 when the answer is no.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/siderolabs/talos/pkg/machinery/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
	"github.com/siderolabs/talos/pkg/machinery/config/configpatcher"
	"github.com/siderolabs/talos/pkg/machinery/config/generate"
	"github.com/siderolabs/talos/pkg/machinery/config/generate/secrets"
	"github.com/siderolabs/talos/pkg/machinery/config/machine"
	"github.com/siderolabs/talos/pkg/machinery/config/validation"
)

const machinery = "github.com/siderolabs/talos/pkg/machinery"

// mode is where the machine runs: metal, cloud or container.
type mode string

func (m mode) String() string        { return string(m) }
func (m mode) RequiresInstall() bool { return m == "metal" }
func (m mode) InContainer() bool     { return m == "container" }

type answer struct {
	OK          bool     `json:"ok"`
	Stage       string   `json:"stage"`
	Error       string   `json:"error,omitempty"`
	Warnings    []string `json:"warnings,omitempty"`
	Documents   []string `json:"documents,omitempty"`
	MachineType string   `json:"machine_type,omitempty"`
	Config      string   `json:"config,omitempty"`
	Version     string   `json:"version"`
}

func main() {
	generated := flag.String("generate", "", "controlplane or worker: answer with a configuration made by Talos itself")
	in := generatorInput{}
	flag.StringVar(&in.contract, "contract", "", "Talos version that the generated configuration is for")
	flag.StringVar(&in.kubernetes, "kubernetes", "", "Kubernetes version of the generated configuration")
	flag.StringVar(&in.endpoint, "endpoint", "https://192.0.2.1:6443", "control plane endpoint of the generated configuration")
	flag.StringVar(&in.cluster, "cluster", "reference", "cluster name of the generated configuration")
	flag.StringVar(&in.pki, "pki", "", "folder with a kubeadm PKI that the generated configuration takes over")
	flag.StringVar(&in.token, "token", "", "bootstrap token for -pki")
	where := flag.String("mode", "metal", "metal, cloud or container")
	lenient := flag.Bool("lenient", false, "warnings do not make the answer no")
	patch := flag.String("patch", "", "file with a patch to apply before the check")
	flag.Parse()

	var got answer
	var err error
	if *generated != "" {
		got, err = generateConfig(*generated, in)
	} else {
		got, err = check(os.Stdin, mode(*where), !*lenient, *patch)
	}
	if err != nil {
		got.Error = err.Error()
	}
	got.OK = err == nil
	got.Version = moduleVersion()
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(got); err != nil || !got.OK {
		os.Exit(1)
	}
}

// check loads, optionally patches, and validates a configuration.
func check(from io.Reader, where mode, strict bool, patch string) (answer, error) {
	got := answer{Stage: "load"}
	data, err := io.ReadAll(from)
	if err != nil {
		return got, err
	}
	cfg, err := configloader.NewFromBytes(data)
	if err != nil {
		return got, err
	}
	if patch != "" {
		got.Stage = "patch"
		if cfg, err = patched(cfg, patch); err != nil {
			return got, err
		}
	}
	for _, document := range cfg.Documents() {
		got.Documents = append(got.Documents, fmt.Sprintf("%s/%s", document.APIVersion(), document.Kind()))
	}
	if cfg.Machine() != nil {
		got.MachineType = cfg.Machine().Type().String()
	}
	effective, err := cfg.Bytes()
	if err != nil {
		return got, err
	}
	got.Config = string(effective)
	got.Stage = "validate"
	options := []validation.Option{validation.WithLocal()}
	if strict {
		options = append(options, validation.WithStrict())
	}
	got.Warnings, err = cfg.Validate(where, options...)
	return got, err
}

func patched(cfg config.Provider, file string) (config.Provider, error) {
	patches, err := configpatcher.LoadPatches([]string{"@" + file})
	if err != nil {
		return nil, err
	}
	output, err := configpatcher.Apply(configpatcher.WithConfig(cfg), patches)
	if err != nil {
		return nil, err
	}
	return output.Config()
}

type generatorInput struct{ contract, kubernetes, endpoint, cluster, pki, token string }

// generateConfig gives the configuration that Talos' own generator makes.
func generateConfig(machineType string, in generatorInput) (answer, error) {
	got := answer{Stage: "generate"}
	contract, err := config.ParseContractFromVersion(in.contract)
	if err != nil {
		return got, err
	}
	var bundle *secrets.Bundle
	if in.pki == "" {
		bundle, err = secrets.NewBundle(secrets.NewFixedClock(time.Now()), contract)
	} else {
		bundle, err = secrets.NewBundleFromKubernetesPKI(in.pki, in.token, contract)
	}
	if err != nil {
		return got, err
	}
	input, err := generate.NewInput(in.cluster, in.endpoint, in.kubernetes, generate.WithVersionContract(contract),
		generate.WithSecretsBundle(bundle), generate.WithInstallDisk("/dev/vda"))
	if err != nil {
		return got, err
	}
	kind, err := machine.ParseType(machineType)
	if err != nil {
		return got, err
	}
	cfg, err := input.Config(kind)
	if err != nil {
		return got, err
	}
	text, err := cfg.Bytes()
	got.Config = string(text)
	return got, err
}

func moduleVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dependency := range info.Deps {
			if dependency.Path == machinery {
				return dependency.Version
			}
		}
	}
	return ""
}
