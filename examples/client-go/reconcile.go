package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

const (
	callTimeout = 30 * time.Second
	firstPause  = time.Second
	lastPause   = time.Minute
	// beforeExpiry is how long before a secret in it expires user data is asked for anew.
	beforeExpiry = 10 * time.Minute
)

// Secret is what an infrastructure provider reads: the data Secret of Cluster API's contract.
type Secret struct {
	Value  []byte
	Format string
	// Request is the digest of the question, kept as an annotation: the same question needs no second answer.
	Request string
	// Expires is when a secret in Value expires; zero: never.
	Expires time.Time
}

// Field is a part of the spec, and what Slipway says about it.
type Field struct {
	Path    string `json:"path"`
	Feature string `json:"feature,omitempty"`
	Message string `json:"message"`
	Remedy  string `json:"remedy,omitempty"`
}

// Status is what the controller writes into the machine's status: the condition DataSecretAvailable, and the fields.
type Status struct {
	Ready   bool    `json:"ready"`
	Reason  string  `json:"reason"`
	Message string  `json:"message,omitempty"`
	Fields  []Field `json:"fields,omitempty"`
}

// Store is the cluster's API server: here a folder, in a controller a client of it.
type Store interface {
	// Secret gives the data Secret that is there, or nil.
	Secret(ctx context.Context) (*Secret, error)
	// Apply writes it, whole or not at all.
	Apply(ctx context.Context, secret *Secret) error
	// Report writes the status.
	Report(ctx context.Context, status Status) error
}

// Reconciler brings one machine to where its data Secret is that of its spec. It keeps nothing that counts between two
// calls: a controller that was killed goes on where it stopped.
type Reconciler struct {
	Bootstrap pb.BootstrapServiceClient
	Store     Store
	Now       func() time.Time
	failures  int
}

// Reconcile takes one step. The pause is when to come back; 0 means not before something changes.
func (r *Reconciler) Reconcile(ctx context.Context, request *pb.GetUserDataRequest) (pause time.Duration, err error) {
	digest, err := digestOf(request)
	if err != nil {
		return 0, err
	}
	secret, err := r.Store.Secret(ctx)
	if err != nil {
		return 0, err
	}
	if secret != nil && secret.Request == digest && (secret.Expires.IsZero() || r.until(secret.Expires) > 0) {
		return r.done(ctx, secret, Status{Ready: true, Reason: "Available"})
	}
	calling, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	answer, err := r.Bootstrap.GetUserData(calling, request)
	if err != nil {
		return r.failed(ctx, err)
	}
	secret = &Secret{Value: answer.UserData, Format: answer.SecretFormat, Request: digest}
	if answer.ExpireTime != nil {
		secret.Expires = answer.ExpireTime.AsTime()
	}
	if err := r.Store.Apply(ctx, secret); err != nil {
		return 0, err
	}
	return r.done(ctx, secret, Status{Ready: true, Reason: "Available", Fields: remarks(answer.Diagnostics)})
}

func (r *Reconciler) done(ctx context.Context, secret *Secret, status Status) (time.Duration, error) {
	r.failures = 0
	if secret.Expires.IsZero() {
		return 0, r.Store.Report(ctx, status)
	}
	return max(r.until(secret.Expires), firstPause), r.Store.Report(ctx, status)
}

// until is the time for which user data need not be asked for anew.
func (r *Reconciler) until(expires time.Time) time.Duration {
	return expires.Add(-beforeExpiry).Sub(r.Now())
}

// failed says what has happened, and when to ask again. Source: the column "recovery" of the table of errors.
func (r *Reconciler) failed(ctx context.Context, err error) (time.Duration, error) {
	found := status.Convert(err)
	report := Status{Reason: found.Code().String(), Message: found.Message()}
	pause := min(firstPause<<min(r.failures, 6), lastPause)
	r.failures++
	for _, detail := range found.Details() {
		switch one := detail.(type) {
		case *errdetails.ErrorInfo:
			report.Reason = one.Reason
		case *errdetails.BadRequest:
			for _, bad := range one.FieldViolations {
				report.Fields = append(report.Fields, Field{
					Path: bad.Field, Feature: bad.Reason, Message: bad.Description, Remedy: bad.GetLocalizedMessage().GetMessage(),
				})
			}
		case *errdetails.RetryInfo:
			pause = max(pause, one.RetryDelay.AsDuration())
		}
	}
	if !again(found.Code(), r.failures) {
		pause = 0
	}
	return pause, r.Store.Report(ctx, report)
}

// again tells whether the same question may have another answer without anybody changing something.
func again(code codes.Code, failures int) bool {
	switch code {
	case codes.Unavailable, codes.DeadlineExceeded, codes.Aborted, codes.ResourceExhausted, codes.NotFound:
		return true // NotFound: the pinned provisioner may come
	case codes.Internal, codes.Unknown:
		return failures <= 1
	default:
		return false
	}
}

func remarks(diagnostics []*pb.Diagnostic) (fields []Field) {
	for _, one := range diagnostics {
		path := one.GetOrigin().GetPath()
		if path == "" {
			path = one.FieldPath
		}
		fields = append(fields, Field{Path: path, Feature: one.Code, Message: one.Message})
	}
	return fields
}

// digestOf names a question. The bytes of protobuf are the same for one program only: after an update of the controller
// it asks once more, which is harmless, since GetUserData is idempotent.
func digestOf(request *pb.GetUserDataRequest) (string, error) {
	written, err := proto.MarshalOptions{Deterministic: true}.Marshal(request)
	digest := sha256.Sum256(written)
	return hex.EncodeToString(digest[:]), err
}
