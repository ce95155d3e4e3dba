"""What everybody who speaks the contract needs, and nothing that needs a network: protobuf only, importable by all."""
