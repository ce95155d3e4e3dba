package provisioner

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

// pathParts is the most parts of a path: what a provisioner does for each folder above a path costs their square.
const pathParts = 64

// checkPathDepth refuses paths of more parts than the contract allows, in a bundle of any origin.
func checkPathDepth(system *pb.OperatingSystem) error {
	var deep []violation
	check := func(field, path string) {
		if strings.Count(path, "/")+strings.Count(path, `\`) > pathParts {
			deep = append(deep, violation{path: field, why: fmt.Sprintf("must have at most %d parts", pathParts)})
		}
	}
	for index, file := range system.GetFiles() {
		check(fmt.Sprintf("os.files[%d].path", index), file.GetPath())
	}
	for index, directory := range system.GetDirectories() {
		check(fmt.Sprintf("os.directories[%d].path", index), directory.GetPath())
	}
	for index, link := range system.GetLinks() {
		check(fmt.Sprintf("os.links[%d].path", index), link.GetPath())
	}
	for index, mount := range system.GetMounts() {
		check(fmt.Sprintf("os.mounts[%d].path", index), mount.GetPath())
	}
	for index, swap := range system.GetSwaps() {
		check(fmt.Sprintf("os.swaps[%d].path", index), swap.GetPath())
	}
	for index, user := range system.GetUsers() {
		check(fmt.Sprintf("os.users[%d].home", index), user.GetHome())
	}
	if len(deep) == 0 {
		return nil
	}
	return failure(codes.InvalidArgument, "BUNDLE_INVALID", "the bundle has paths that are deeper than the contract allows",
		nil, deep...)
}
