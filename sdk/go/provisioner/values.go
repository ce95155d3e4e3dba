package provisioner

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// renderedParts are those of a bundle whose values decide what a machine becomes; the others are facts about it.
var renderedParts = []protoreflect.Name{"os", "commands", "plan", "intent", "engine_options", "extensions"}

// unknownValues gives the values of enums that this version of the contract has no name for. protobuf keeps them as
// numbers, and no feature tells of them: whoever compares them with those that he knows would guess what they mean.
func unknownValues(bundle protoreflect.Message) (unknown []violation) {
	bundle.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		if slices.Contains(renderedParts, field.Name()) {
			unknown = append(unknown, unknownIn(string(field.Name()), field, value)...)
		}
		return true
	})
	return unknown
}

func unknownIn(path string, field protoreflect.FieldDescriptor, value protoreflect.Value) (unknown []violation) {
	if field.IsMap() {
		return nil // The contract has no map whose values are enums or messages.
	}
	if list, isList := value.Interface().(protoreflect.List); isList {
		for index := range list.Len() {
			unknown = append(unknown, unknownOne(fmt.Sprintf("%s[%d]", path, index), field, list.Get(index))...)
		}
		return unknown
	}
	return unknownOne(path, field, value)
}

func unknownOne(path string, field protoreflect.FieldDescriptor, value protoreflect.Value) (unknown []violation) {
	if enum := field.Enum(); enum != nil && enum.Values().ByNumber(value.Enum()) == nil {
		return []violation{{path: path, why: "is a value that this version of the contract does not have"}}
	}
	if field.Message() == nil {
		return nil
	}
	value.Message().Range(func(below protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		unknown = append(unknown, unknownIn(path+"."+string(below.Name()), below, value)...)
		return true
	})
	return unknown
}
