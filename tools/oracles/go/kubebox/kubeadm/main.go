// Command kubeadm lets kubeadm's own loader judge its configuration documents, or is kubeadm itself.
//
// It holds glue only: the verdicts are those of the Kubernetes module in go.mod (current) or go-1.30.mod (the last
// version that is at home in v1beta3). With KUBEADM_ENGINE=check the documents come on standard input and one JSON
// document goes to standard output, the status is 1 when the answer is no; else this is the kubeadm program.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"strings"

	"k8s.io/component-base/version"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/cmd/kubeadm/app"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/scheme"
	kubeadmutil "k8s.io/kubernetes/cmd/kubeadm/app/util"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/config"
)

type answer struct {
	OK        bool     `json:"ok"`
	Error     string   `json:"error,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
	Version   string   `json:"version"`
	Effective string   `json:"effective,omitempty"`
}

func main() {
	if os.Getenv("KUBEADM_ENGINE") != "check" {
		if err := app.Run(); err != nil {
			os.Exit(1)
		}
		return
	}
	do := flag.String("do", "validate", "validate, init, join or migrate")
	flag.Parse()
	var said bytes.Buffer
	quieten(&said)
	data, err := io.ReadAll(os.Stdin)
	var effective []byte
	if err == nil {
		effective, err = judge(*do, data)
	}
	klog.Flush()
	got := answer{OK: err == nil, Effective: string(effective), Version: version.Get().String()}
	if err != nil {
		got.Error = err.Error()
	}
	if text := strings.TrimSpace(said.String()); text != "" {
		got.Warnings = strings.Split(text, "\n")
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(got); err != nil || !got.OK {
		os.Exit(1)
	}
}

// quieten sends kubeadm's log to a buffer: its warnings are part of the answer.
func quieten(to io.Writer) {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	klog.SetOutput(to)
}

// judge validates strictly; init and join also give what kubeadm understood: defaulted, in the newest API version.
func judge(do string, data []byte) ([]byte, error) {
	// Loading alone only warns of an unknown field in a component's document.
	if err := config.ValidateConfig(data, false); err != nil {
		return nil, err
	}
	switch do {
	case "validate":
		return nil, nil
	case "migrate":
		return config.MigrateOldConfig(data, false, nil)
	case "init":
		loaded, err := config.BytesToInitConfiguration(data, true)
		if err != nil {
			return nil, err
		}
		return withComponents(loaded)
	case "join":
		return join(data)
	}
	return nil, errors.New("unknown -do")
}

// withComponents adds what kubeadm made of the kubelet's and kube-proxy's own documents.
func withComponents(loaded *kubeadm.InitConfiguration) ([]byte, error) {
	out, err := config.MarshalInitConfigurationToBytes(loaded, groupVersion)
	if err != nil {
		return nil, err
	}
	for _, component := range loaded.ComponentConfigs {
		document, err := component.Marshal()
		if err != nil {
			return nil, err
		}
		out = append(append(out, "---\n"...), document...)
	}
	return out, nil
}

func join(data []byte) ([]byte, error) {
	file, err := os.CreateTemp("", "join")
	if err != nil {
		return nil, err
	}
	defer os.Remove(file.Name())
	if _, err := file.Write(data); err != nil {
		return nil, err
	}
	if err := file.Close(); err != nil {
		return nil, err
	}
	loaded, err := config.LoadJoinConfigurationFromFile(file.Name(), config.LoadOrDefaultConfigurationOptions{SkipCRIDetect: true})
	if err != nil {
		return nil, err
	}
	return kubeadmutil.MarshalToYamlForCodecs(loaded, groupVersion, scheme.Codecs)
}
