"""The only service that machines call: files by digest, and payloads, over HTTP. It reads nothing of Kubernetes."""
