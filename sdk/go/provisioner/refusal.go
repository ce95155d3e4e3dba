package provisioner

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// statusBytes is what the contract allows for a status: clients drop the details of a larger one.
const statusBytes = 4096

// valueBytes is the most of one value of metadata.
const valueBytes = 512

// violation is a field of the bundle, the feature that it uses, and what is wrong with it. It never repeats a value.
type violation struct{ path, feature, why string }

// failure gives an error as the contract wants it: a reason of errors.yaml, and the fields that are to blame.
func failure(code codes.Code, reason, message string, metadata map[string]string, violations ...violation) error {
	for shown := min(len(violations), 20); ; shown-- {
		info := &errdetails.ErrorInfo{Reason: reason, Domain: "slipway.dev", Metadata: map[string]string{}}
		for key, value := range metadata {
			info.Metadata[key] = shortened(value)
		}
		if shown < len(violations) {
			info.Metadata["truncated"] = strconv.Itoa(len(violations) - shown)
		}
		fields := &errdetails.BadRequest{}
		for _, one := range violations[:shown] {
			fields.FieldViolations = append(fields.FieldViolations,
				&errdetails.BadRequest_FieldViolation{Field: one.path, Reason: one.feature, Description: one.why})
		}
		made, err := status.New(code, message).WithDetails(info, fields)
		if shown == 0 || err == nil && proto.Size(made.Proto()) <= statusBytes {
			return made.Err()
		}
	}
}

// shortened gives a text that fits beside others, and says where it was cut.
func shortened(text string) string {
	if len(text) <= valueBytes {
		return text
	}
	return strings.ToValidUTF8(text[:valueBytes-3], "") + "..."
}

// invalid says that the maker of the bundle or of the request has a defect.
func invalid(path, why string) error {
	return failure(codes.InvalidArgument, "BUNDLE_INVALID", "the request breaks a rule of the contract", nil,
		violation{path: path, why: why})
}

// UnsupportedTarget says that the machine is none that can be served.
func UnsupportedTarget(path, why string) error {
	return failure(codes.FailedPrecondition, "UNSUPPORTED_TARGET", "the machine is not supported", nil,
		violation{path: path, why: why})
}

// unsupported says what cannot be honoured. The bootstrapper lowers those items, or tells the user.
func unsupported(format string, violations []violation) error {
	slices.SortStableFunc(violations, func(a, b violation) int { return cmp.Compare(a.path, b.path) })
	var ids []string
	for _, one := range violations {
		ids = append(ids, one.feature)
	}
	slices.Sort(ids)
	return failure(codes.FailedPrecondition, "UNSUPPORTED_FEATURE", format+" does not support all that the bundle asks for",
		map[string]string{"features": strings.Join(slices.Compact(ids), ",")}, violations...)
}

// guarded turns a defect of ours into an error with an id, under which the log has more. The text of a panic may quote
// the request, so it goes nowhere.
func guarded(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (_ any, err error) {
	defer func() {
		if found := recover(); found != nil {
			id := rand.Text()
			slog.Error("a call failed with an internal error", "error_id", id, "method", info.FullMethod)
			err = failure(codes.Internal, "INTERNAL", "the provisioner has a defect", map[string]string{"error_id": id})
		}
	}()
	return handler(ctx, request)
}
