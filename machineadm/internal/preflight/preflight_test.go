package preflight

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(2 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key}
}

func (a authority) pem() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw})
}

func (a authority) hash() string {
	sum := sha256.Sum256(a.certificate.RawSubjectPublicKeyInfo)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func (a authority) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ca.crt")
	if err := os.WriteFile(path, a.pem(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// server is an API server with a certificate of the authority; it publishes what `published` says.
func (a authority) server(t *testing.T, from, to time.Duration, address net.IP, published []byte) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotBefore: time.Now().Add(from), NotAfter: time.Now().Add(to),
		IPAddresses: []net.IP{address}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != publishing || published == nil {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		kubeconfig := "clusters:\\n- cluster:\\n    certificate-authority-data: " +
			base64.StdEncoding.EncodeToString(published) + "\\n"
		fmt.Fprintf(w, `{"data":{"kubeconfig":"%s"}}`, kubeconfig)
	}))
	server.Config.ErrorLog = nil
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

func TestNetwork(t *testing.T) {
	own, other := newAuthority(t), newAuthority(t)
	here, elsewhere := net.IPv4(127, 0, 0, 1), net.IPv4(127, 0, 0, 2)
	right := own.server(t, -time.Hour, time.Hour, here, own.pem())
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	file := Wishes{CAFile: own.file(t)}
	for _, row := range []struct {
		says     string
		endpoint string
		wishes   Wishes
		check    string
		reason   Reason
	}{
		{"all is right", right, file, "", ""},
		{"right by the hash", right, Wishes{CAHashes: []string{other.hash(), strings.Replace(own.hash(), "a", "A", 1)}}, "", ""},
		{"file and hash", right, Wishes{CAFile: file.CAFile, CAHashes: []string{own.hash()}}, "", ""},
		{"another hash", right, Wishes{CAHashes: []string{other.hash()}}, "tls", CaHashMismatch},
		{"another hash than the file's", right, Wishes{CAFile: file.CAFile, CAHashes: []string{other.hash()}}, "tls", CaHashMismatch},
		{"another CA", right, Wishes{CAFile: other.file(t)}, "tls", CertificateUntrusted},
		{"a published CA of another cluster", own.server(t, -time.Hour, time.Hour, here, other.pem()), Wishes{CAHashes: []string{other.hash()}}, "tls", CertificateUntrusted},
		{"nothing published", own.server(t, -time.Hour, time.Hour, here, nil), Wishes{CAHashes: []string{own.hash()}}, "tls", ClusterInfoMissing},
		{"expired", own.server(t, -2*time.Hour, -time.Hour, here, nil), file, "tls", CertificateNotValidNow},
		{"not valid yet", own.server(t, time.Hour, 2*time.Hour, here, nil), file, "tls", CertificateNotYetValid},
		{"another name", own.server(t, -time.Hour, time.Hour, elsewhere, nil), file, "tls", CertificateNameMismatch},
		{"no TLS", plain.Listener.Addr().String(), file, "tls", EndpointWithoutTLS},
		{"no answer", silent.Addr().String(), file, "tls", EndpointUnreachable},
		{"refused", closed.Addr().String(), file, "tcp", EndpointRefused},
		{"no such name", "no-such-name.invalid:6443", file, "dns", EndpointNameNotResolved},
	} {
		wishes := row.wishes
		wishes.Endpoint, wishes.Timeout = row.endpoint, 2*time.Second
		outcomes := network(context.Background(), wishes)
		if len(outcomes) != 4 {
			t.Errorf("%s: %v", row.says, outcomes)
		}
		for _, one := range outcomes {
			expected := Reason("")
			if one.Check == row.check {
				expected = row.reason
			}
			if one.Reason != expected {
				t.Errorf("%s: %+v", row.says, one)
			}
		}
	}
}

func TestClock(t *testing.T) {
	own := newAuthority(t)
	image := filepath.Join(t.TempDir(), "os-release")
	if err := os.WriteFile(image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wishes := Wishes{CAFile: own.file(t)}
	for _, row := range []struct {
		at     time.Duration
		wishes Wishes
		older  []string
		reason Reason
	}{
		{0, wishes, []string{image, "/no/such/file"}, ""},
		{-time.Hour, Wishes{}, []string{image}, CertificateNotYetValid},
		{-3 * time.Hour, wishes, nil, CertificateNotYetValid},
		{3 * time.Hour, wishes, nil, CertificateNotValidNow},
		{0, Wishes{CAFile: image}, nil, CertificateMissing},
	} {
		if got := clockAt(time.Now().Add(row.at), row.wishes, row.older); got.Reason != row.reason {
			t.Errorf("%v: %+v", row, got)
		}
	}
}

func TestRuntimeSocket(t *testing.T) {
	folder := t.TempDir()
	open, dead, none := filepath.Join(folder, "a.sock"), filepath.Join(folder, "b.sock"), filepath.Join(folder, "c.sock")
	listener, err := net.Listen("unix", open)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := os.WriteFile(dead, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		socket string
		known  []string
		reason Reason
	}{
		{"unix://" + open, nil, ""},
		{"", []string{open, none}, ""},
		{"", []string{open, dead}, SeveralContainerRuntimes},
		{"", []string{none}, ContainerRuntimeNotRuns},
		{dead, nil, ContainerRuntimeNotRuns},
		{none, nil, ContainerRuntimeNotRuns},
	} {
		if got := socketOf(row.socket, row.known); got.Reason != row.reason {
			t.Errorf("%v: %+v", row, got)
		}
	}
}

func TestPorts(t *testing.T) {
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if got := ports([]int{port}); got.Reason != PortInUse {
		t.Error(got)
	}
	_ = listener.Close()
	if got := ports([]int{port}); got.Reason != "" {
		t.Error(got)
	}
}
