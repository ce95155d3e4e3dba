"""Documents of Kubernetes' own kinds inside a spec, checked against the types of the machine's Kubernetes version."""
