"""Bootstrap engines: each turns the Kubernetes intent into a plan for a general-purpose operating system."""
