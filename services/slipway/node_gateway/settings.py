"""Settings of the node gateway. It shares listening, TLS and logs with the other servers; it serves no gRPC."""

from pydantic import Field

from slipway.rpc.settings import ServerSettings


class GatewaySettings(ServerSettings):
    """Where the files are, and what a peer may take: an IPv4 address, or an IPv6 /64. A rate of 0 is no limit.

    Attributes:
        store: URL of a folder or an object store; credentials come from the environment.
        peer_bytes_per_second: bytes a second of all connections of a peer.
        peer_requests_per_second: requests a second of a peer.
        peer_connections: connections of a peer at a time.
        connections: connections of all peers at a time.
        connection_seconds: most seconds that a connection lives.
        max_blob_bytes: larger files are not served.
    """

    store: str = Field(pattern=r"^(file:///|s3://|gs://|az://)[^\s]+$")
    peer_bytes_per_second: int = Field(default=64 * 2**20, ge=0)
    peer_requests_per_second: float = Field(default=50.0, ge=0)
    peer_connections: int = Field(default=32, ge=1, le=100_000)
    connections: int = Field(default=1024, ge=1, le=100_000)
    connection_seconds: float = Field(default=900.0, gt=0, le=86_400)
    max_blob_bytes: int = Field(default=256 * 2**20, ge=1)
