"""XML of texts that others wrote: XML 1.0 has no control characters, and a parser ends at one."""

from xml.etree import ElementTree as ET  # nosec - it only builds

from slipway.diagnosis.printing import printable


def xml_document(root: ET.Element) -> bytes:
    """Return a document in UTF-8, indented, with what can be printed of each text and attribute; `root` is changed."""
    for element in root.iter():
        element.text = "\n".join(map(printable, element.text.splitlines())) if element.text else element.text
        element.attrib.update({name: printable(value) for name, value in element.attrib.items()})
    ET.indent(root)
    encoded: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return encoded + b"\n"
