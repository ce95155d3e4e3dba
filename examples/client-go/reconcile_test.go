package main

import (
	"context"
	"net"
	"slices"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

var now = time.Unix(1_000_000, 0)

// script is a bootstrapper that gives these answers, one after the other.
type script struct {
	pb.UnimplementedBootstrapServiceServer
	errors  []error
	expires *timestamppb.Timestamp
	calls   int
}

func (s *script) GetUserData(context.Context, *pb.GetUserDataRequest) (*pb.GetUserDataResponse, error) {
	s.calls++
	if len(s.errors) > 0 {
		err := s.errors[0]
		s.errors = s.errors[1:]
		return nil, err
	}
	remark := &pb.Diagnostic{Code: "REMARK", FieldPath: "os", Origin: &pb.Origin{Path: "spec.os"}, Message: "m"}
	return &pb.GetUserDataResponse{
		UserData: []byte("#"), SecretFormat: "ignition", ExpireTime: s.expires, Diagnostics: []*pb.Diagnostic{remark},
	}, nil
}

func failing(code codes.Code, details ...protoadapt.MessageV1) error {
	made, _ := status.New(code, "said").WithDetails(details...)
	return made.Err()
}

type memory struct {
	secret *Secret
	status Status
}

func (m *memory) Secret(context.Context) (*Secret, error)       { return m.secret, nil }
func (m *memory) Apply(_ context.Context, secret *Secret) error { m.secret = secret; return nil }
func (m *memory) Report(_ context.Context, status Status) error { m.status = status; return nil }

func against(t *testing.T, server *script) (*Reconciler, *memory) {
	t.Helper()
	pipe, serving, store := bufconn.Listen(1<<20), grpc.NewServer(), &memory{}
	pb.RegisterBootstrapServiceServer(serving, server)
	go func() { _ = serving.Serve(pipe) }()
	t.Cleanup(serving.Stop)
	dial := grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return pipe.DialContext(ctx) })
	connection, err := grpc.NewClient("passthrough:///x", dial, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	client := pb.NewBootstrapServiceClient(connection)
	return &Reconciler{Bootstrap: client, Store: store, Now: func() time.Time { return now }}, store
}

func step(t *testing.T, reconciler *Reconciler, request *pb.GetUserDataRequest) time.Duration {
	t.Helper()
	pause, err := reconciler.Reconcile(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	return pause
}

func TestTheSameQuestionIsAskedOnce(t *testing.T) {
	server := &script{}
	reconciler, store := against(t, server)
	request := &pb.GetUserDataRequest{AcceptGzip: true}
	for range 3 {
		if pause := step(t, reconciler, request); pause != 0 || !store.status.Ready {
			t.Error(pause, store.status)
		}
	}
	if server.calls != 1 || string(store.secret.Value) != "#" || store.secret.Format != "ignition" {
		t.Error(server.calls, store.secret)
	}
	step(t, reconciler, &pb.GetUserDataRequest{})
	if server.calls != 2 {
		t.Error("another question is not asked")
	}
}

func TestUserDataIsAskedForAnewBeforeASecretExpires(t *testing.T) {
	server := &script{expires: timestamppb.New(now.Add(time.Hour))}
	reconciler, _ := against(t, server)
	if pause := step(t, reconciler, &pb.GetUserDataRequest{}); pause != 50*time.Minute {
		t.Error(pause)
	}
	now = now.Add(51 * time.Minute)
	step(t, reconciler, &pb.GetUserDataRequest{})
	if server.calls != 2 {
		t.Error(server.calls)
	}
}

func TestWhatBecomesOfErrors(t *testing.T) {
	info := func(reason string) *errdetails.ErrorInfo {
		return &errdetails.ErrorInfo{Reason: reason, Domain: "slipway.dev"}
	}
	retry := &errdetails.RetryInfo{RetryDelay: durationpb.New(7 * time.Second)}
	fields := &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{
		{Field: "spec.os.users[0]", Reason: "os.users", Description: "is refused",
			LocalizedMessage: &errdetails.LocalizedMessage{Message: "leave it out"}},
	}}
	for _, one := range []struct {
		why     string
		errors  []error
		pauses  []time.Duration
		reason  string
		refused []Field
	}{
		{"retry after RetryInfo", []error{failing(codes.Unavailable, info("NO_READY_PROVISIONER"), retry)},
			[]time.Duration{7 * time.Second}, "NO_READY_PROVISIONER", nil},
		{"the server is away: more and more rarely", []error{failing(codes.Unavailable), failing(codes.Unavailable), failing(codes.Unavailable)},
			[]time.Duration{time.Second, 2 * time.Second, 4 * time.Second}, "Unavailable", nil},
		{"a refusal is for a person", []error{failing(codes.FailedPrecondition, info("UNSUPPORTED_FEATURE"), fields)},
			[]time.Duration{0}, "UNSUPPORTED_FEATURE", []Field{{"spec.os.users[0]", "os.users", "is refused", "leave it out"}}},
		{"a defect is tried once more", []error{failing(codes.Internal, info("INTERNAL")), failing(codes.Internal, info("INTERNAL"))},
			[]time.Duration{time.Second, 0}, "INTERNAL", nil},
	} {
		reconciler, store := against(t, &script{errors: one.errors})
		var pauses []time.Duration
		for range one.errors {
			pauses = append(pauses, step(t, reconciler, &pb.GetUserDataRequest{}))
		}
		if !slices.Equal(pauses, one.pauses) || store.status.Reason != one.reason || !slices.Equal(store.status.Fields, one.refused) {
			t.Errorf("%s: %v %+v", one.why, pauses, store.status)
		}
		step(t, reconciler, &pb.GetUserDataRequest{})
		want := []Field{{Path: "spec.os", Feature: "REMARK", Message: "m"}}
		if !store.status.Ready || !slices.Equal(store.status.Fields, want) {
			t.Errorf("%s: afterwards %+v", one.why, store.status)
		}
	}
}
