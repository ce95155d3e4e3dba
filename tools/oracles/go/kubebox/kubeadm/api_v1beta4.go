//go:build !kubernetes_1_30

package main

import (
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm/v1beta4"
)

// groupVersion is the API version that the module writes by default.
var groupVersion = v1beta4.SchemeGroupVersion
