//go:build original

package main

// The original program of the kubeadm bootstrap provider is built from this module too; this import pins it.
import _ "sigs.k8s.io/cluster-api/bootstrap/kubeadm"
