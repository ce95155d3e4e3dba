"""Existing KubeadmConfigs, opted in: Slipway makes their data Secrets; the kubeadm provider beside it makes all others.

KubeadmControlPlane can use no other kind. Whose an object is gets decided once, when it is created, by the webhook; the
objects that are Slipway's are paused for the kubeadm provider until their data is there (see `ownership`).
"""
