"""Plays kubelet and kube-proxy: runs the pods of manifests as processes, as they would run on a node.

Each has its own network, its own read-only root with the mounts of its volumes, its account's token, the user and the
rights that the manifest gives it, and nothing else. What is not there is the image, which tests/deploy/test_image.py
tries: the programs are this machine's.
"""
