"""Writes the custom resource definitions of our kinds from the proto descriptors and their comments.

The API server checks what the contract's rules say of one field, and of a few fields beside each other, before anything
is stored. A second definition kept by hand would differ from the contract within a month.
"""
