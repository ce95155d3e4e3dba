//go:build kubernetes_1_30

package main

import (
	kubeadmutil "k8s.io/kubernetes/cmd/kubeadm/app/util"
	kubelet "k8s.io/kubernetes/cmd/kubelet/app"
)

var (
	endKubeadm = kubeadmutil.CheckErr
	newKubelet = kubelet.NewKubeletCommand

	// Nodes of this age run the etcd of the newer ones: two of its versions do not go into one module.
	runEtcd func([]string)
)
