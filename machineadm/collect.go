package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"slipway.dev/machineadm/internal/collect"
	"slipway.dev/machineadm/internal/executor"
	"slipway.dev/machineadm/internal/redact"
)

// collectLogs writes the log bundle of this machine.
func collectLogs(arguments []string, out, err io.Writer) int {
	set := flags("collect", err)
	path := set.String("output", "slipway-logs.tar.gz", "the file of the bundle, or - for standard output")
	largest := set.Int("largest", collect.Largest, "bytes of the bundle, at most")
	root := set.String("root", string(filepath.Separator), "where the file system of the machine is")
	if !parse(set, arguments) {
		return misused
	}
	if *largest < 128<<10 || *largest > collect.Largest {
		fmt.Fprintf(err, "machineadm collect: --largest must be from %d to %d\n", 128<<10, collect.Largest)
		return misused
	}
	bePatient()
	ctx, cancel := context.WithTimeout(context.Background(), collect.Patience)
	defer cancel()
	redactor := redact.New(collect.Secrets(*root))
	name, _ := os.Hostname()
	manifest := collect.Manifest{Hostname: name, Time: time.Now().UTC(), Version: version}
	if steps, problem := executor.DefaultPlaces().Read(); problem == nil {
		manifest.Bundle = steps.Bundle
	}
	write := func(to io.Writer) error {
		return collect.Write(to, collect.Sources(ctx, *root), redactor, manifest, *largest)
	}
	problem := error(nil)
	if *path == "-" {
		problem = write(out)
	} else {
		problem = toFile(*path, write)
	}
	if problem != nil {
		fmt.Fprintln(err, "machineadm collect:", problem)
		return failed
	}
	return ok
}

// toFile writes a file for root only, which is there whole or not at all.
func toFile(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if err := errors.Join(write(file), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
