package provisioner

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"google.golang.org/grpc/credentials"
	"slipway.dev/sdk/internal/identity"
)

// certificates is the directory with tls.crt, tls.key and ca.crt. It is read again when it changes; a change that cannot
// be used leaves the last good one in force.
type certificates struct {
	folder string
	lock   sync.Mutex
	seen   string
	last   *tls.Config
}

func (files *certificates) current() (*tls.Config, error) {
	files.lock.Lock()
	defer files.lock.Unlock()
	path := func(name string) string { return filepath.Join(files.folder, name) }
	seen := ""
	for _, name := range []string{"tls.crt", "tls.key", "ca.crt"} {
		if found, err := os.Stat(path(name)); err == nil {
			seen += fmt.Sprint(found.ModTime().UnixNano(), found.Size(), " ")
		}
	}
	if files.last != nil && seen == files.seen {
		return files.last, nil
	}
	pair, err := tls.LoadX509KeyPair(path("tls.crt"), path("tls.key"))
	pem, unread := os.ReadFile(path("ca.crt"))
	authority := x509.NewCertPool()
	if err == nil && unread == nil && authority.AppendCertsFromPEM(pem) {
		files.seen = seen
		files.last = &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2"}, Certificates: []tls.Certificate{pair},
			RootCAs: authority, ClientCAs: authority, ClientAuth: tls.RequireAndVerifyClientCert,
		}
		return files.last, nil
	}
	if files.last == nil {
		return nil, errors.New("--tls-cert-dir must hold tls.crt, tls.key and ca.crt, PEM, the key that of the certificate")
	}
	slog.Warn("new certificates unusable, last valid ones kept")
	return files.last, nil
}

// server asks for the newest files at every connection.
func (files *certificates) server() credentials.TransportCredentials {
	return credentials.NewTLS(&tls.Config{
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"h2"},
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return files.current() },
	})
}

// client gives the newest files for one connection, on which the other side must show the certificate of a registry.
func (files *certificates) client() credentials.TransportCredentials {
	config, err := files.current()
	if err != nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	config = config.Clone()
	// gRPC takes the name of the handshake from here, whatever address it calls.
	config.ServerName = "registry." + identity.TrustDomain(config.Certificates...)
	return credentials.NewTLS(config)
}
