"""Certificates cut into one to a file, as the programs that manage a system's trust want them."""

from collections.abc import Iterator

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from slipway.bootstrapper.lowering.draft import CannotLower
from slipway.bootstrapper.lowering.texts import literal_bytes
from slipway.contract.content import literal
from slipway.contract.items import Item
from slipway.v1alpha1 import content_pb2 as contentpb


def split_certificates(item: Item) -> Iterator[tuple[str, contentpb.Content]]:
    """Give each certificate of an item with a suffix for its name: "" when it is the only one, else "-1", "-2" ...

    They are read by the parser that checked the spec and written anew, so that nothing which passed the check can be
    lost here: PEM has older labels and looser forms that programs on the machine do not know. A content that refers to
    a secret is not known here; it is given as it is.

    Raises:
        CannotLower: there is no certificate in it.
    """
    content: contentpb.Content = item.message.certificate
    whole = literal_bytes(content)
    if whole is None:
        yield "", content
        return
    try:
        certificates = x509.load_pem_x509_certificates(whole)
    except ValueError:
        raise CannotLower(item, "the certificate is no X.509 in PEM", remedy="write it as PEM") from None
    for number, certificate in enumerate(certificates, 1):
        yield f"-{number}" if len(certificates) > 1 else "", literal(certificate.public_bytes(Encoding.PEM))
