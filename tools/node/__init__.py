"""Real Kubernetes nodes on this machine, booted from user data alone by the programs that a cloud's machine runs.

The only proof that user data is right is a node. Engines show what a first-boot system leaves on a disk; here the
machine goes on from there: its units start, kubeadm runs, the kubelet registers. Nothing is downloaded at that time,
no registry is needed, and nothing of this machine is changed: a site holds all machines, and when it ends, however it
ends, so do they.
"""
