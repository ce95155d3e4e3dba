"""The k0s engine: the only place where Kubernetes intent becomes k0s' configuration, tokens, unit and steps."""
