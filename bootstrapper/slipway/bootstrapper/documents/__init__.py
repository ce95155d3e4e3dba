"""Reads Slipway's own documents, and puts everything that was read together into machines."""
