"""What every speaker of the contract needs, and nothing that needs a network: protobuf only, importable by all."""
