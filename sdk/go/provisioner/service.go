// Package provisioner is what every provisioner in Go needs around its one function: the checks that the contract asks
// for, refusals, secrets, TLS, health, registration, and a decent end. It knows the contract and nothing else of Slipway.
package provisioner

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

const (
	bundleBytes   = 2 << 20
	userDataBytes = 1 << 20
)

// Provisioner is what an author writes.
type Provisioner struct {
	// Name under which it registers, and which its certificate must own.
	Name string
	// Version of the implementation: whatever changes its answers needs a new one.
	Version string
	// DocumentationURL is where people can read about it.
	DocumentationURL string
	// Formats that it serves, the default one first.
	Formats []*pb.FormatInfo
	// Render gives the user data of a bundle. It reads nothing but its argument: no clock, no file, no random number.
	Render func(*Rendering) ([]byte, error)
}

// Rendering is one bundle on its way to user data.
type Rendering struct {
	Bundle  *pb.BootstrapBundle
	Target  *pb.Target
	Format  *pb.FormatInfo
	refused []violation
	remarks []*pb.Diagnostic
	err     error
}

// Refuse says that an item cannot be honoured although its feature is declared: the bundle's path of it, the feature,
// and why, without a value of the bundle. The bootstrapper lowers the item, or tells the user.
func (r *Rendering) Refuse(path, feature, why string) {
	r.refused = append(r.refused, violation{path, feature, why})
}

// Invalid says that the bundle breaks a rule of the contract.
func (r *Rendering) Invalid(path, why string) {
	r.fail(invalid(path, why))
}

// Remark adds a diagnostic to an answer that succeeds.
func (r *Rendering) Remark(severity pb.Severity, code, message, path string) {
	r.remarks = append(r.remarks, &pb.Diagnostic{Severity: severity, Code: code, Message: message, FieldPath: path})
}

func (r *Rendering) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// Try renders a bundle in the default format and for its default target, as a call would: for tests.
func Try(one Provisioner, bundle *pb.BootstrapBundle) (*pb.RenderResponse, error) {
	format := one.Formats[0]
	request := &pb.RenderRequest{RequestTag: "try", Bundle: bundle, Format: format.Format, Target: format.DefaultTarget}
	return (&service{Provisioner: one}).Render(context.Background(), request)
}

// service answers the two calls of the contract.
type service struct {
	pb.UnimplementedProvisionerServiceServer
	Provisioner
}

func (s *service) GetProvisionerInfo(context.Context, *pb.GetProvisionerInfoRequest) (*pb.GetProvisionerInfoResponse, error) {
	return &pb.GetProvisionerInfoResponse{
		Name: s.Name, ImplementationVersion: s.Version, ContractVersion: "v1alpha1", FeaturesAdvertised: true,
		DocumentationUrl: s.DocumentationURL, Formats: s.Formats,
	}, nil
}

func (s *service) Render(ctx context.Context, request *pb.RenderRequest) (*pb.RenderResponse, error) {
	bundle := request.GetBundle()
	format, err := s.check(request)
	if err != nil {
		return nil, err
	}
	made := &Rendering{Bundle: bundle, Target: request.GetTarget(), Format: format}
	userData, err := s.Provisioner.Render(made)
	if made.fail(err); made.err == nil && len(made.refused) > 0 {
		made.err = unsupported(format.Format, made.refused)
	}
	if made.err != nil {
		return nil, made.err
	}
	limit := request.MaxUserDataBytes
	if limit == 0 {
		limit = userDataBytes
	}
	if uint64(len(userData)) > limit {
		return nil, failure(codes.FailedPrecondition, "USER_DATA_TOO_LARGE", "the user data is larger than allowed",
			map[string]string{"size": fmt.Sprint(len(userData)), "limit": fmt.Sprint(limit)})
	}
	answer := &pb.RenderResponse{
		RequestTag: request.RequestTag, Format: format.Format, MediaType: format.MediaType,
		Diagnostics: made.remarks, ImplementationVersion: s.Version,
	}
	for _, secret := range bundle.GetSecrets().GetSecrets() {
		expires := secret.ExpireTime
		if expires != nil && (answer.ExpireTime == nil || expires.AsTime().Before(answer.ExpireTime.AsTime())) {
			answer.ExpireTime = expires
		}
	}
	if !request.ValidateOnly {
		digest := sha256.Sum256(userData)
		answer.UserData, answer.Sha256 = userData, digest[:]
	}
	return answer, ctx.Err()
}

// check refuses what no bundle may ask for: another format, a feature that is not declared, another family of systems.
func (s *service) check(request *pb.RenderRequest) (*pb.FormatInfo, error) {
	var served []string
	var format *pb.FormatInfo
	for _, one := range s.Formats {
		served = append(served, one.Format)
		if one.Format == request.Format {
			format = one
		}
	}
	if format == nil {
		slices.Sort(served)
		return nil, failure(codes.FailedPrecondition, "UNSUPPORTED_FORMAT", "this format is not served",
			map[string]string{"served": strings.Join(served, ",")}, violation{path: "format", why: "is not one that is served"})
	}
	bundle := request.GetBundle()
	if size := proto.Size(bundle); size > bundleBytes {
		return nil, failure(codes.InvalidArgument, "BUNDLE_TOO_LARGE", "the bundle is larger than the contract allows",
			map[string]string{"size": fmt.Sprint(size), "limit": fmt.Sprint(bundleBytes)},
			violation{path: "bundle", why: "is larger than 2 MiB"})
	}
	if !bundle.GetFeaturesComputed() {
		return nil, failure(codes.InvalidArgument, "FEATURES_NOT_COMPUTED", "required_features must be computed", nil,
			violation{path: "features_computed", why: "must be true"})
	}
	if unknown := undeclared(bundle.GetRequiredFeatures(), format.Features); len(unknown) > 0 {
		return nil, unsupported(format.Format, unknown)
	}
	switch family := request.GetTarget().GetOsFamily(); {
	case family == pb.OsFamily_OS_FAMILY_UNSPECIFIED:
		return nil, invalid("target.os_family", "is required")
	case !slices.Contains(format.OsFamilies, family):
		return nil, UnsupportedTarget("target.os_family", "is a family that is not served")
	}
	if unknown := unknownValues(bundle.ProtoReflect()); len(unknown) > 0 {
		slices.SortFunc(unknown, func(a, b violation) int { return cmp.Compare(a.path, b.path) })
		return nil, failure(codes.InvalidArgument, "BUNDLE_INVALID", "the bundle has values that are not known", nil, unknown...)
	}
	for index, word := range bundle.GetPlan().GetEntrypoint().GetArgv() {
		if strings.ContainsRune(word, 0) {
			return nil, invalid(fmt.Sprintf("plan.entrypoint.argv[%d]", index), "cannot hold a NUL character")
		}
	}
	if err := checkPathDepth(bundle.GetOs()); err != nil {
		return nil, err
	}
	return format, nil
}

// undeclared gives what the bundle needs and the format does not take. protobuf drops what it does not know, so a field
// that is younger than this program shows only in the bundle's own list.
func undeclared(required []*pb.FeatureUse, supported []*pb.FeatureSupport) (unknown []violation) {
	declared := map[string]bool{}
	for _, one := range supported {
		declared[one.Id] = true
	}
	for _, use := range required {
		paths := use.Paths
		if len(paths) == 0 {
			paths = []string{"required_features"}
		}
		for _, path := range paths {
			if !declared[use.Id] {
				unknown = append(unknown, violation{path, use.Id, "is not supported"})
			}
		}
	}
	return unknown
}
