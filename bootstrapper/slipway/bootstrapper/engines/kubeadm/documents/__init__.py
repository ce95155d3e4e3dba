"""Typed trees of the documents that kubeadm reads, so that no YAML is ever put together from text."""
