"""The conformance suite: whoever implements the provisioner contract, in any language, learns here what holds.

It needs nothing but an endpoint, and it must not share a line with what it tests: it imports no provisioner, no SDK, no
bootstrapper. Its clauses and cases are data; docs/reference/contract.md is made from the same clauses.
"""
