"""The descriptors that servers give by gRPC reflection.

Python's generated code embeds descriptors without the names that fields have in JSON. A client that has its descriptors
by reflection, such as grpcurl, then prints "user_data" where one with the descriptor set prints "userData".
"""

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool


class ReflectionPool:
    """The descriptors of this process, with the JSON name of every field: what the reflection service asks of a pool.

    The names of its methods are those of DescriptorPool.
    """

    def __init__(self) -> None:
        """Hold no file yet: each is read when a client asks for it."""
        self._known = descriptor_pool.Default()
        self._named = DescriptorPool()
        self._added: set[str] = set()

    def FindFileByName(self, file_name: str) -> FileDescriptor:  # noqa: N802
        """Return a file; KeyError where there is none."""
        return self._with_json_names(self._known.FindFileByName(file_name))

    def FindFileContainingSymbol(self, symbol: str) -> FileDescriptor:  # noqa: N802
        """Return the file of a message, a service, a method or another symbol; KeyError where there is none."""
        return self._with_json_names(self._known.FindFileContainingSymbol(symbol))

    def FindMessageTypeByName(self, full_name: str) -> Descriptor:  # noqa: N802
        """Return a message; KeyError where there is none."""
        return self._known.FindMessageTypeByName(full_name)

    def FindExtensionByNumber(self, message: Descriptor, number: int) -> FieldDescriptor:  # noqa: N802
        """Return an extension of a message; KeyError where there is none."""
        return self._known.FindExtensionByNumber(message, number)

    def FindAllExtensions(self, message: Descriptor) -> list[FieldDescriptor]:  # noqa: N802
        """Return all extensions of a message."""
        return self._known.FindAllExtensions(message)

    def _with_json_names(self, file: FileDescriptor) -> FileDescriptor:
        self._add(file)
        return self._named.FindFileByName(file.name)

    def _add(self, file: FileDescriptor) -> None:
        """Add a file after those that it imports."""
        if file.name in self._added:
            return
        for imported in file.dependencies:
            self._add(imported)
        proto = FileDescriptorProto()
        file.CopyToProto(proto)
        for message in proto.message_type:
            _name_fields(message, file.message_types_by_name[message.name])
        self._named.Add(proto)
        self._added.add(file.name)


def _name_fields(message: DescriptorProto, descriptor: Descriptor) -> None:
    for field in message.field:
        field.json_name = descriptor.fields_by_name[field.name].json_name
    for nested in message.nested_type:
        _name_fields(nested, descriptor.nested_types_by_name[nested.name])
