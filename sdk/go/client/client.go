// Package client is what a bootstrap provider or another controller needs around the generated clients: a connection,
// and refusals by field.
package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"slipway.dev/sdk/internal/identity"
)

// Connect gives a connection to a server of Slipway's. The folder holds tls.crt, tls.key and ca.crt; an empty name means
// no TLS, which a server accepts from its own machine only. The server must show the certificate of a bootstrapper of the
// same trust domain. A renewed certificate is used from the next handshake on.
func Connect(address, folder string) (*grpc.ClientConn, error) {
	if folder == "" {
		return grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	pem, err := os.ReadFile(filepath.Join(folder, "ca.crt"))
	authority := x509.NewCertPool()
	if err != nil || !authority.AppendCertsFromPEM(pem) {
		return nil, errors.New(filepath.Join(folder, "ca.crt") + " holds no certificate")
	}
	pair := func() (*tls.Certificate, error) {
		read, err := tls.LoadX509KeyPair(filepath.Join(folder, "tls.crt"), filepath.Join(folder, "tls.key"))
		return &read, err
	}
	own, err := pair()
	if err != nil {
		return nil, err
	}
	return grpc.NewClient(address, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: authority, ServerName: "bootstrapper." + identity.TrustDomain(*own),
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return pair() },
	})))
}

// Violation is a field of the request that cannot be served. It never repeats a value.
type Violation struct {
	Path        string // as it stands in the request, e.g. "spec.os.files[0]"
	Feature     string // id of the feature, where it is about one
	Description string
	Remedy      string
}

// Refusal is what an error of a call says.
type Refusal struct {
	Reason     string // of the table of errors; the name of the gRPC code when the server gave none
	Message    string
	Violations []Violation
	RetryAfter time.Duration // 0: the server named no time
}

// RefusalOf reads the details of an error.
func RefusalOf(err error) Refusal {
	answer := status.Convert(err)
	refusal := Refusal{Reason: answer.Code().String(), Message: answer.Message()}
	for _, detail := range answer.Details() {
		switch part := detail.(type) {
		case *errdetails.ErrorInfo:
			refusal.Reason = part.Reason
		case *errdetails.BadRequest:
			for _, field := range part.FieldViolations {
				refusal.Violations = append(refusal.Violations, Violation{
					Path: field.Field, Feature: field.Reason, Description: field.Description,
					Remedy: field.GetLocalizedMessage().GetMessage(),
				})
			}
		case *errdetails.RetryInfo:
			refusal.RetryAfter = part.RetryDelay.AsDuration()
		}
	}
	return refusal
}

// Renamed gives the refusal in a caller's own words: the longest prefix of each path that has a name is replaced by it.
func (refusal Refusal) Renamed(names map[string]string) Refusal {
	renamed := make([]Violation, len(refusal.Violations))
	for index, violation := range refusal.Violations {
		longest := ""
		for path := range names {
			if len(path) > len(longest) && within(violation.Path, path) {
				longest = path
			}
		}
		if longest != "" {
			violation.Path = names[longest] + strings.TrimPrefix(violation.Path, longest)
		}
		renamed[index] = violation
	}
	refusal.Violations = renamed
	return refusal
}

func within(path, prefix string) bool {
	rest, ok := strings.CutPrefix(path, prefix)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// Error is the refusal as lines: the fields, what is wrong with each, and what to do.
func (refusal Refusal) Error() string {
	var lines strings.Builder
	fmt.Fprintf(&lines, "%s: %s", refusal.Reason, refusal.Message)
	for _, violation := range refusal.Violations {
		fmt.Fprintf(&lines, "\n%s: %s", violation.Path, violation.Description)
		if violation.Remedy != "" {
			fmt.Fprintf(&lines, "; %s", violation.Remedy)
		}
	}
	return lines.String()
}
