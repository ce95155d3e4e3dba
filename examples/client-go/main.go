// A client of the bootstrapper, as the controller of an infrastructure provider is one: it asks for a machine's user
// data until it has it, and writes the data Secret. reconcile.go is what goes into a controller; the rest is for trying.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

func main() {
	server := flag.String("server", "127.0.0.1:9441", "the bootstrapper, `HOST:PORT`")
	certificates := flag.String("tls-cert-dir", "", "`directory` with tls.crt, tls.key and ca.crt")
	domain := flag.String("trust-domain", "slipway", "trust `domain` of the certificates")
	plain := flag.Bool("insecure", false, "speak to this machine without TLS")
	file := flag.String("request", "", "`file` with a GetUserDataRequest in JSON")
	out := flag.String("out", ".", "`folder` for secret.json and status.json")
	once := flag.Bool("once", false, "end after the first answer")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer cancel()
	if err := run(ctx, *server, *certificates, *domain, *plain, *file, folder(*out), *once); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, server, certificates, domain string, plain bool, file string, out folder, once bool) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	request := &pb.GetUserDataRequest{}
	if err := protojson.Unmarshal(data, request); err != nil {
		return errors.New("the file holds no GetUserDataRequest")
	}
	secured, err := transport(certificates, domain, plain)
	if err != nil {
		return err
	}
	connection, err := grpc.NewClient(server, grpc.WithTransportCredentials(secured))
	if err != nil {
		return err
	}
	defer connection.Close()
	reconciler := &Reconciler{Bootstrap: pb.NewBootstrapServiceClient(connection), Store: out, Now: time.Now}
	return loop(ctx, reconciler, request, out, once)
}

// loop is the work queue of a controller, for one machine. It ends when there is nothing to come back for.
func loop(ctx context.Context, reconciler *Reconciler, request *pb.GetUserDataRequest, out folder, once bool) error {
	for {
		pause, err := reconciler.Reconcile(ctx, request)
		if err != nil {
			return err
		}
		said, err := os.ReadFile(filepath.Join(string(out), "status.json"))
		if err != nil {
			return err
		}
		status := Status{}
		if err := json.Unmarshal(said, &status); err != nil {
			return err
		}
		fmt.Printf("%s; again in %s\n", said, pause.Round(time.Second))
		switch {
		case status.Ready:
			return nil
		case pause == 0 || once:
			return errors.New("no user data: " + status.Reason)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

func transport(certificates, domain string, plain bool) (credentials.TransportCredentials, error) {
	if plain == (certificates != "") {
		return nil, errors.New("give --tls-cert-dir or --insecure")
	}
	if plain {
		return insecure.NewCredentials(), nil
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(certificates, "tls.crt"), filepath.Join(certificates, "tls.key"))
	if err != nil {
		return nil, err
	}
	authority, pool := x509.NewCertPool(), filepath.Join(certificates, "ca.crt")
	pem, err := os.ReadFile(pool)
	if err != nil || !authority.AppendCertsFromPEM(pem) {
		return nil, errors.New(pool + " holds no certificate")
	}
	return credentials.NewTLS(&tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, RootCAs: authority,
		// The other side must be a bootstrapper: a certificate for the right address alone is not enough.
		ServerName: "bootstrapper." + domain,
	}), nil
}
