package provisioner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

// copier gives back the content of the first file.
func copier() Provisioner {
	return Provisioner{
		Name: "copier.example.com", Version: "1.0.0",
		Formats: []*pb.FormatInfo{{
			Format: "copy", MediaType: "text/plain", Features: []*pb.FeatureSupport{{Id: "os.files"}},
			OsFamilies:    []pb.OsFamily{pb.OsFamily_OS_FAMILY_LINUX},
			DefaultTarget: &pb.Target{OsFamily: pb.OsFamily_OS_FAMILY_LINUX.Enum()},
		}},
		Render: func(r *Rendering) ([]byte, error) {
			return r.Content(r.Bundle.GetOs().GetFiles()[0].GetContent(), "os.files[0].content"), nil
		},
	}
}

func bundleOf(segments ...*pb.Segment) *pb.BootstrapBundle {
	return &pb.BootstrapBundle{
		FeaturesComputed: true,
		RequiredFeatures: []*pb.FeatureUse{{Id: "os.files", Paths: []string{"os.files[0]"}}},
		Os:               &pb.OperatingSystem{Files: []*pb.File{{Content: &pb.Content{Segments: segments}}}},
		Secrets: &pb.SecretMaterial{Secrets: []*pb.Secret{
			{Name: "s", Key: "k", Value: []byte("\"é\u0085\ufeff<\U0001F600")}, {Name: "s", Key: "raw", Value: []byte{0xff}},
		}},
	}
}

func secretAs(key string, encoding pb.SpliceEncoding) *pb.Segment {
	reference := &pb.SecretReference{Name: proto.String("s"), Key: proto.String(key)}
	return &pb.Segment{Value: &pb.Segment_SecretRef{SecretRef: reference}, Encoding: encoding.Enum()}
}

func reason(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, is := detail.(*errdetails.ErrorInfo); is {
			return info.Reason
		}
	}
	return ""
}

func TestSegmentsAreSpliced(t *testing.T) {
	literal := &pb.Segment{Value: &pb.Segment_Data{Data: []byte("a\x00")}}
	for _, one := range []struct {
		part         *pb.Segment
		want, reason string
	}{
		{literal, "a\x00", ""},
		{secretAs("raw", pb.SpliceEncoding_SPLICE_ENCODING_RAW), "\xff", ""},
		{secretAs("raw", pb.SpliceEncoding_SPLICE_ENCODING_UNSPECIFIED), "\xff", ""},
		{secretAs("raw", pb.SpliceEncoding_SPLICE_ENCODING_BASE64), "/w==", ""},
		{secretAs("k", pb.SpliceEncoding_SPLICE_ENCODING_JSON_STRING), `"\"é\u0085\ufeff<😀"`, ""},
		{secretAs("raw", pb.SpliceEncoding_SPLICE_ENCODING_JSON_STRING), "", "BUNDLE_INVALID"},
		{secretAs("k", 99), "", "BUNDLE_INVALID"},
		{secretAs("none", pb.SpliceEncoding_SPLICE_ENCODING_RAW), "", "BUNDLE_INVALID"},
		{&pb.Segment{Value: &pb.Segment_Fact{}}, "", "BUNDLE_INVALID"},
	} {
		answer, err := Try(copier(), bundleOf(one.part))
		if string(answer.GetUserData()) != one.want || reason(err) != one.reason {
			t.Errorf("%v: %q, %v", one.part, answer.GetUserData(), err)
		}
	}
}

func TestTheChecksOfTheContract(t *testing.T) {
	for _, one := range []struct {
		change func(*pb.RenderRequest)
		reason string
		code   codes.Code
	}{
		{func(r *pb.RenderRequest) {}, "", codes.OK},
		{func(r *pb.RenderRequest) { r.Format = "other" }, "UNSUPPORTED_FORMAT", codes.FailedPrecondition},
		{func(r *pb.RenderRequest) { r.Bundle.FeaturesComputed = false }, "FEATURES_NOT_COMPUTED", codes.InvalidArgument},
		{func(r *pb.RenderRequest) { r.Bundle = nil }, "FEATURES_NOT_COMPUTED", codes.InvalidArgument},
		{func(r *pb.RenderRequest) { r.Bundle.RequiredFeatures[0].Id = "os.new" }, "UNSUPPORTED_FEATURE", codes.FailedPrecondition},
		{func(r *pb.RenderRequest) { r.Target = nil }, "BUNDLE_INVALID", codes.InvalidArgument},
		{func(r *pb.RenderRequest) { r.Target.OsFamily = pb.OsFamily_OS_FAMILY_WINDOWS.Enum() }, "UNSUPPORTED_TARGET", codes.FailedPrecondition},
		{func(r *pb.RenderRequest) {
			r.Bundle.Kubernetes = &pb.BootstrapBundle_Plan{Plan: &pb.Plan{Entrypoint: &pb.EntryPoint{Argv: []string{"a", "b\x00c"}}}}
		}, "BUNDLE_INVALID", codes.InvalidArgument},
		{func(r *pb.RenderRequest) {
			r.Bundle.Os.Links = append(r.Bundle.Os.Links, &pb.Link{Path: proto.String(strings.Repeat("/a", 65))})
		}, "BUNDLE_INVALID", codes.InvalidArgument},
		{func(r *pb.RenderRequest) { r.MaxUserDataBytes = math.MaxUint64 }, "", codes.OK},
		{func(r *pb.RenderRequest) { r.MaxUserDataBytes = 1 }, "USER_DATA_TOO_LARGE", codes.FailedPrecondition},
		{func(r *pb.RenderRequest) { r.Bundle.Id = proto.String(strings.Repeat("x", bundleBytes)) }, "BUNDLE_TOO_LARGE", codes.InvalidArgument},
	} {
		bundle := bundleOf(&pb.Segment{Value: &pb.Segment_Data{Data: []byte("abc")}})
		bundle.Secrets.Secrets[0].ExpireTime = &timestamppb.Timestamp{Seconds: 9}
		bundle.Secrets.Secrets[1].ExpireTime = &timestamppb.Timestamp{Seconds: 7}
		target := &pb.Target{OsFamily: pb.OsFamily_OS_FAMILY_LINUX.Enum()}
		request := &pb.RenderRequest{RequestTag: "t", Format: "copy", Bundle: bundle, Target: target}
		one.change(request)
		answer, err := (&service{Provisioner: copier()}).Render(context.Background(), request)
		if status.Code(err) != one.code || reason(err) != one.reason {
			t.Errorf("want %s, got %v", one.reason, err)
		}
		if err == nil && (answer.RequestTag != "t" || len(answer.Sha256) != 32 || answer.ExpireTime.Seconds != 7) {
			t.Errorf("%v", answer)
		}
	}
}

func TestAStatusStaysWithinItsBudget(t *testing.T) {
	var many []violation
	for index := range 100 {
		many = append(many, violation{fmt.Sprintf("os.files[%d]%s", index, strings.Repeat("x", 200)), "os.files", "is long"})
	}
	found := status.Convert(unsupported("f", many))
	if size := proto.Size(found.Proto()); size > statusBytes || size < statusBytes/2 {
		t.Errorf("%d bytes", size)
	}
	info := found.Details()[0].(*errdetails.ErrorInfo)
	shown := len(found.Details()[1].(*errdetails.BadRequest).FieldViolations)
	if info.Metadata["truncated"] != fmt.Sprint(100-shown) || info.Metadata["features"] != "os.files" {
		t.Errorf("%v beside %d", info.Metadata, shown)
	}
}

func TestAListThatIsCutSaysSo(t *testing.T) {
	var many []violation
	for index := range 40 {
		many = append(many, violation{"os", fmt.Sprintf("ext.example.com/feature-%02d", index), "is not supported"})
	}
	info := status.Convert(unsupported("f", many)).Details()[0].(*errdetails.ErrorInfo)
	if named := info.Metadata["features"]; len(named) > valueBytes || !strings.HasSuffix(named, "...") {
		t.Error(named)
	}
}

func TestADefectIsAnErrorWithAnId(t *testing.T) {
	broken := func(context.Context, any) (any, error) { panic("a secret") }
	_, err := guarded(context.Background(), nil, &grpc.UnaryServerInfo{}, broken)
	if status.Code(err) != codes.Internal || reason(err) != "INTERNAL" || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

func TestTheCommandLine(t *testing.T) {
	t.Setenv("SLIPWAY_REGISTRY_ADDRESS", "from-environment:1")
	given, err := parse("x", []string{"--insecure", "--listen-address", "127.0.0.1:0"})
	if err != nil || given.registry != "from-environment:1" || given.propagation > 0 {
		t.Error(given, err)
	}
	for _, wrong := range []string{
		"", "--insecure", "--insecure --tls-cert-dir d --listen-address 127.0.0.1:1", "--insecure --listen-address 10.0.0.1:1", "--no-such-flag",
	} {
		if _, err := parse("x", strings.Fields(wrong)); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
}

func TestTheWordsOfVariables(t *testing.T) {
	for _, one := range []struct {
		word           string
		insecure, good bool
	}{{"true", true, true}, {"false", false, false}, {"", false, false}, {"1", false, false}, {"TRUE", false, false}} {
		t.Setenv("SLIPWAY_INSECURE", one.word)
		given, err := parse("x", []string{"--listen-address", "127.0.0.1:0"})
		if given.insecure != one.insecure || (err == nil) != one.good {
			t.Errorf("%q: %v, %v", one.word, given.insecure, err)
		}
		_, err = parse("x", []string{"--tls-cert-dir", "d"})
		if taken := one.word == "false" || one.word == ""; (err == nil) != taken {
			t.Errorf("%q with certificates: %v", one.word, err)
		}
	}
}

// registry is one that forgets every lease once.
type registry struct {
	pb.UnimplementedRegistryServiceServer
	calls chan string
	known map[string]int
}

func (r *registry) Register(_ context.Context, asked *pb.RegisterRequest) (*pb.RegisterResponse, error) {
	r.calls <- "register " + asked.Name
	r.known["lease"] = 0
	return &pb.RegisterResponse{LeaseId: "lease", RenewAfter: durationpb.New(time.Millisecond)}, nil
}

func (r *registry) RenewLease(context.Context, *pb.RenewLeaseRequest) (*pb.RenewLeaseResponse, error) {
	r.calls <- "renew"
	if r.known["lease"]++; r.known["lease"] > 2 {
		return nil, status.Error(codes.NotFound, "forgotten")
	}
	return &pb.RenewLeaseResponse{RenewAfter: durationpb.New(time.Millisecond)}, nil
}

func (r *registry) Deregister(context.Context, *pb.DeregisterRequest) (*pb.DeregisterResponse, error) {
	r.calls <- "deregister"
	return &pb.DeregisterResponse{}, nil
}

func TestTheLifeOfALease(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, one := grpc.NewServer(), &registry{calls: make(chan string, 1000), known: map[string]int{}}
	pb.RegisterRegistryServiceServer(server, one)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	held := keep(listener.Addr().String(), "n", "127.0.0.1:1", insecure.NewCredentials)
	var calls []string
	for range 5 {
		calls = append(calls, <-one.calls)
	}
	want := []string{"register n", "renew", "renew", "renew", "register n"}
	if !slices.Equal(calls, want) {
		t.Error(calls)
	}
	held.end()
	last := ""
	for len(one.calls) > 0 {
		last = <-one.calls
	}
	if last != "deregister" {
		t.Error(last)
	}
}

func TestCertificatesThatCanNotBeUsedLeaveTheLastOnes(t *testing.T) {
	files := &certificates{folder: t.TempDir()}
	if _, err := files.current(); err == nil {
		t.Error("an empty folder is taken")
	}
	pair(t, files.folder, "first")
	first, err := files.current()
	if err != nil {
		t.Fatal(err)
	}
	pair(t, files.folder, "second")
	second, err := files.current()
	if err != nil || second == first {
		t.Error("a change is not seen", err)
	}
	if err := os.WriteFile(files.folder+"/tls.key", []byte("broken"), 0o600); err != nil {
		t.Fatal(err)
	}
	if third, err := files.current(); err != nil || third != second {
		t.Error("the last good ones are gone", errors.Join(err))
	}
}

func TestValuesWithoutANameAreRefused(t *testing.T) {
	bundle := bundleOf(secretAs("k", 99))
	execution := pb.Execution(99)
	bundle.Kubernetes = &pb.BootstrapBundle_Plan{Plan: &pb.Plan{Entrypoint: &pb.EntryPoint{Execution: &execution}}}
	_, err := Try(copier(), bundle)
	var paths []string
	for _, detail := range status.Convert(err).Details() {
		if fields, is := detail.(*errdetails.BadRequest); is {
			for _, one := range fields.FieldViolations {
				paths = append(paths, one.Field)
			}
		}
	}
	if reason(err) != "BUNDLE_INVALID" || !slices.Equal(paths, []string{"os.files[0].content.segments[0].encoding", "plan.entrypoint.execution"}) {
		t.Error(err, paths)
	}
}
