"""The KubeadmConfigSpec of Cluster API, v1beta1 and v1beta2, as it may stand in somebody's manifests.

The types follow api/bootstrap/kubeadm/{v1beta1,v1beta2} of kubernetes-sigs/cluster-api, with their bounds.
v1beta2 is also the one internal form; v1beta1 is converted to it, as Cluster API does.
"""
