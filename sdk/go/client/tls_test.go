package client

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
)

// authority signs the certificates of a trust domain.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key := newKey(t)
	made := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, made, made, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// fill writes tls.crt, tls.key and ca.crt of an identity, and gives the pair.
func (a authority) fill(t *testing.T, folder, id string, names ...string) tls.Certificate {
	t.Helper()
	key := newKey(t)
	uri, err := url.Parse(id)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), URIs: []*url.URL{uri}, DNSNames: names,
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		"tls.crt": {Type: "CERTIFICATE", Bytes: der},
		"tls.key": {Type: "PRIVATE KEY", Bytes: private},
		"ca.crt":  {Type: "CERTIFICATE", Bytes: a.certificate.Raw},
	} {
		if err := os.WriteFile(filepath.Join(folder, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// serve starts a server that asks for a client's certificate, and notes the identity of each call.
func (a authority) serve(t *testing.T, name string) (string, *[]string) {
	t.Helper()
	clients := x509.NewCertPool()
	clients.AddCert(a.certificate)
	identities := &[]string{}
	note := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
		if caller, known := peer.FromContext(ctx); known {
			state := caller.AuthInfo.(credentials.TLSInfo).State
			*identities = append(*identities, state.PeerCertificates[0].URIs[0].String())
		}
		return handler(ctx, request)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(note), grpc.Creds(credentials.NewTLS(&tls.Config{
		Certificates: []tls.Certificate{a.fill(t, t.TempDir(), "spiffe://example.com/bootstrapper/a", name)},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: clients, MinVersion: tls.VersionTLS12,
	})))
	healthpb.RegisterHealthServer(server, health.NewServer())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String(), identities
}

// call dials by Connect, and makes one call.
func call(t *testing.T, address, folder string) error {
	t.Helper()
	connection, err := Connect(address, folder)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	limited, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_, err = healthpb.NewHealthClient(connection).Check(limited, &healthpb.HealthCheckRequest{})
	return err
}

// Both sides prove who they are, whatever the address is; the certificate of a later connection is that of the files.
func TestConnectIsMutual(t *testing.T) {
	domain, folder := newAuthority(t), t.TempDir()
	address, identities := domain.serve(t, "bootstrapper.example.com")
	for _, id := range []string{"spiffe://example.com/client/a", "spiffe://example.com/client/b"} {
		domain.fill(t, folder, id)
		if err := call(t, address, folder); err != nil {
			t.Fatal(err)
		}
		if last := (*identities)[len(*identities)-1]; last != id {
			t.Errorf("want %s, got %s", id, last)
		}
	}
}

// A server of another role, or of another authority, gets no call: it would be given the secrets of a machine.
func TestConnectRefusesAnotherServer(t *testing.T) {
	domain, folder := newAuthority(t), t.TempDir()
	domain.fill(t, folder, "spiffe://example.com/client/a")
	for name, server := range map[string]authority{
		"registry.example.com": domain, "bootstrapper.example.com": newAuthority(t),
	} {
		address, identities := server.serve(t, name)
		if err := call(t, address, folder); err == nil || len(*identities) != 0 {
			t.Errorf("%s was called: %v", name, err)
		}
	}
}
