"""Compliance profiles: controls of benchmarks as data, applied to a spec, and checked on the machine."""
