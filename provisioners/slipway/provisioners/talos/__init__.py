"""The Talos provisioner: machine configuration from intent.

Talos has no shell, no users and no package manager, and it bootstraps Kubernetes by itself. So nothing here
knows a plan or a bootstrap engine: what the intent says becomes fields of Talos' own documents, and what Talos
cannot do is refused with its path.

Defaults that Talos' own generator turns on and that no intent asked for (a network plugin, pod security
admission, the public discovery service) are left off: the same spec means the same cluster everywhere.
"""
