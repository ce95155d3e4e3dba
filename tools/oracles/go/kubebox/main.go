// Command kubebox is all programs of a Kubernetes node in one binary, which Kubernetes releases but no registry of Go modules builds.
//
// It holds glue only. Which program it is says the name that it was called by (a link), or its first argument.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	_ "time/tzdata"

	"github.com/spf13/cobra"
	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectl "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kubeadm "k8s.io/kubernetes/cmd/kubeadm/app"
)

const (
	self           = "kubebox"
	unknownProgram = 64
)

func main() {
	name := filepath.Base(os.Args[0])
	if strings.HasPrefix(name, self) && len(os.Args) > 1 {
		os.Args = os.Args[1:]
		name = os.Args[0]
	}
	commands := map[string]func() *cobra.Command{
		"kube-apiserver":          apiserver.NewAPIServerCommand,
		"kube-controller-manager": controllermanager.NewControllerManagerCommand,
		"kube-scheduler":          func() *cobra.Command { return scheduler.NewSchedulerCommand() },
		"kube-proxy":              proxy.NewProxyCommand,
		"kubelet":                 newKubelet,
	}
	command, known := commands[name]
	switch {
	case known:
		os.Exit(cli.Run(command()))
	case name == "kubeadm":
		endKubeadm(kubeadm.Run())
	case name == "kubectl":
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			kubectlutil.CheckErr(err)
		}
	case name == "etcd" && runEtcd != nil:
		runEtcd(os.Args)
	default:
		fmt.Fprintf(os.Stderr, "%s: no program %q\n", self, name)
		os.Exit(unknownProgram)
	}
}
