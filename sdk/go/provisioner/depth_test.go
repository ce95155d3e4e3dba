package provisioner

import (
	"strings"
	"testing"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

func TestEveryPathThatHasFoldersIsCounted(t *testing.T) {
	deep, allowed := proto.String(strings.Repeat("/a", 65)), proto.String(strings.Repeat("/a", 64))
	system := &pb.OperatingSystem{
		Files:       []*pb.File{{Path: deep}, {Path: allowed}},
		Directories: []*pb.Directory{{Path: deep}, {Path: allowed}},
		Links:       []*pb.Link{{Path: allowed}, {Path: deep}},
		Mounts:      []*pb.Mount{{Path: deep}, {Path: allowed}},
		Swaps:       []*pb.Swap{{Path: deep}, {Path: proto.String("C:" + strings.Repeat(`\a`, 65))}},
		Users:       []*pb.User{{Home: allowed}, {Home: deep}},
	}
	refused := status.Convert(checkPathDepth(system))
	if refused.Code() != codes.InvalidArgument || reason(refused.Err()) != "BUNDLE_INVALID" ||
		refused.Message() != "the bundle has paths that are deeper than the contract allows" {
		t.Error(refused)
	}
	var fields []string
	for _, one := range refused.Details()[1].(*errdetails.BadRequest).FieldViolations {
		fields = append(fields, one.Field)
		if one.Description != "must have at most 64 parts" {
			t.Error(one)
		}
	}
	want := "os.files[0].path os.directories[0].path os.links[1].path os.mounts[0].path os.swaps[0].path " +
		"os.swaps[1].path os.users[1].home"
	if got := strings.Join(fields, " "); got != want {
		t.Error(got)
	}
}
