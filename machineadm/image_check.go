package main

import (
	"encoding/json"
	"fmt"
	"io"

	"slipway.dev/machineadm/internal/image"
)

// checkImage compares an image with the clauses for who builds images; it changes nothing.
func checkImage(arguments []string, out, err io.Writer) int {
	set := flags("image-check", err)
	root := set.String("root", image.DefaultRoot, "where the image is mounted; default: the running system")
	asJSON := set.Bool("json", false, "print JSON lines")
	if !parse(set, arguments) {
		return misused
	}
	code := ok
	for _, finding := range image.Check(*root) {
		if finding.Level == image.Broken {
			code = failed
		}
		if *asJSON {
			if json.NewEncoder(out).Encode(finding) != nil {
				return failed
			}
			continue
		}
		text := finding.Clause + ": " + finding.Level
		if finding.Message != "" {
			text += ": " + finding.Message
		}
		fmt.Fprintln(out, text)
	}
	return code
}
