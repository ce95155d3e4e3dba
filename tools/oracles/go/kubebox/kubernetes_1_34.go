//go:build !kubernetes_1_30

package main

import (
	"context"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	kubeadmerrors "k8s.io/kubernetes/cmd/kubeadm/app/util/errors"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var (
	endKubeadm = kubeadmerrors.HandleError
	runEtcd    = etcdmain.Main
)

func newKubelet() *cobra.Command { return kubelet.NewKubeletCommand(context.Background()) }
