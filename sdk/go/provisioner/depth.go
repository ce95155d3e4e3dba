package provisioner

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/reflect/protoreflect"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

// pathParts is the most parts of a path: what a provisioner does for each folder above a path costs their square.
const pathParts = 64

// pathFields are the lists of an operating system whose items have a path, and the field that holds it.
var pathFields = [][2]protoreflect.Name{
	{"files", "path"}, {"directories", "path"}, {"links", "path"}, {"mounts", "path"}, {"swaps", "path"}, {"users", "home"},
}

// checkPathDepth refuses paths of more parts than the contract allows, in a bundle of any origin.
func checkPathDepth(system *pb.OperatingSystem) error {
	var deep []violation
	message := system.ProtoReflect()
	for _, names := range pathFields {
		list := message.Descriptor().Fields().ByName(names[0])
		path := list.Message().Fields().ByName(names[1])
		items := message.Get(list).List()
		for index := range items.Len() {
			text := items.Get(index).Message().Get(path).String()
			if strings.Count(text, "/")+strings.Count(text, `\`) > pathParts {
				deep = append(deep, violation{
					path: fmt.Sprintf("os.%s[%d].%s", names[0], index, names[1]),
					why:  fmt.Sprintf("must have at most %d parts", pathParts),
				})
			}
		}
	}
	if len(deep) == 0 {
		return nil
	}
	return failure(codes.InvalidArgument, "BUNDLE_INVALID", "the bundle has paths that are deeper than the contract allows",
		nil, deep...)
}
