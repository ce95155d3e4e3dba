// Command bootstrap-provider-k3s does the work of cluster-api-k3s' bootstrap provider without its cloud-init template: it
// makes a plan of a KThreesConfig, and gets the user data of any first-boot system for it from Slipway.
//
// Standard input holds what the controller would read: a Cluster, a Machine, a KThreesConfig, and Secrets. Standard
// output is the user data. A refusal names the fields of the KThreesConfig; exit code 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"slipway.dev/sdk/client"
	pb "slipway.dev/sdk/slipway/v1alpha1"
)

var families = map[string]pb.OsFamily{
	"linux": pb.OsFamily_OS_FAMILY_LINUX, "windows": pb.OsFamily_OS_FAMILY_WINDOWS,
}

func main() {
	server := flag.String("server", "127.0.0.1:9441", "the bootstrapper, `HOST:PORT`")
	certificates := flag.String("tls-cert-dir", "", "`directory` with tls.crt, tls.key and ca.crt; without it no TLS")
	provisioner := flag.String("provisioner", "", "`name` of the provisioner; without it the only one that can")
	family := flag.String("os-family", "linux", "linux or windows")
	distribution := flag.String("distribution", "", "distribution, e.g. debian or flatcar")
	version := flag.String("os-version", "", "its version")
	infrastructure := flag.String("infrastructure", "", "where the machine runs, e.g. openstack")
	flag.Parse()
	target := &pb.Target{}
	for _, part := range []struct {
		value string
		field **string
	}{{*distribution, &target.Distribution}, {*version, &target.OsVersion}, {*infrastructure, &target.Infrastructure}} {
		if part.value != "" {
			*part.field = &part.value
		}
	}
	if known, ok := families[*family]; ok {
		target.OsFamily = &known
	}
	answer, err := provision(os.Stdin, *server, *certificates, *provisioner, target)
	if err == nil {
		fmt.Fprintln(os.Stderr, answer.Format, answer.Encoding)
		_, err = os.Stdout.Write(answer.UserData)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func provision(
	manifests io.Reader, server, certificates, provisioner string, target *pb.Target,
) (*pb.ProvisionResponse, error) {
	if target.OsFamily == nil {
		return nil, errors.New("--os-family must be linux or windows")
	}
	world, err := readWorld(manifests)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(world, target, provisioner)
	if err != nil {
		return nil, err
	}
	connection, err := client.Connect(server, certificates)
	if err != nil {
		return nil, err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	answer, err := pb.NewProvisioningServiceClient(connection).Provision(ctx, plan.request)
	if err != nil {
		return nil, client.RefusalOf(err).Renamed(plan.names)
	}
	return answer, nil
}
