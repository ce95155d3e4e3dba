"""Under which host a registry's API is served: by it a container runtime looks for credentials."""

API_HOSTS = {"docker.io": "registry-1.docker.io"}
"""Registries whose API has another name."""


def api_host(host: str) -> str:
    """Give the host that is asked for the images of a registry; hosts that differ in case only are the same."""
    return API_HOSTS.get(host.lower(), host.lower())
