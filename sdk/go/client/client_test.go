package client

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

// A refusal holds all that the server sent, and the fields have the caller's own names.
func TestRefusalHasTheCallersNames(t *testing.T) {
	answer, err := status.New(codes.FailedPrecondition, "cannot be served").WithDetails(
		&errdetails.ErrorInfo{Reason: "UNSUPPORTED_FEATURE", Domain: "slipway.dev"},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
			{Field: "spec.os.files[1].mode", Reason: "os.files", Description: "is not supported",
				LocalizedMessage: &errdetails.LocalizedMessage{Message: "leave it out"}},
			{Field: "spec.os.files[10]", Description: "is another"},
		}},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(3 * time.Second)},
	)
	if err != nil {
		t.Fatal(err)
	}
	refusal := RefusalOf(answer.Err()).Renamed(map[string]string{"spec.os": "spec", "spec.os.files[1]": "spec.files[0]"})
	if refusal.Reason != "UNSUPPORTED_FEATURE" || refusal.RetryAfter != 3*time.Second {
		t.Error(refusal)
	}
	want := "UNSUPPORTED_FEATURE: cannot be served\nspec.files[0].mode: is not supported; leave it out\nspec.files[10]: is another"
	if refusal.Error() != want {
		t.Errorf("want %q, got %q", want, refusal.Error())
	}
}

// An error without details is one as well.
func TestRefusalOfAnyError(t *testing.T) {
	if refusal := RefusalOf(errors.New("the network is away")); refusal.Reason != "Unknown" || len(refusal.Violations) != 0 {
		t.Error(refusal)
	}
}

// A folder without certificates is an error that names the file, and no connection without TLS.
func TestConnectNeedsTheFiles(t *testing.T) {
	if _, err := Connect("localhost:1", t.TempDir()); err == nil || !strings.Contains(err.Error(), "ca.crt") {
		t.Error(err)
	}
}
