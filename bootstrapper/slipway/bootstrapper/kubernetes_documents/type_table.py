"""The types of Kubernetes' documents by minor version (`make kubernetes-types`), each read once."""

from functools import cache

from slipway.contract.type_table import Series, TypeTable, read_type_table


@cache
def type_table(series: Series) -> TypeTable:
    """Give the types of a minor version."""
    return read_type_table(__package__ or "", series, version="this Kubernetes version")
