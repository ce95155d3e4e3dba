// Command ignition lets Ignition's own parsers judge a config, and Butane's own translator a Butane document.
//
// It holds glue only: the verdicts are those of the modules in go.mod, for specs 3.0 to 3.6 and 2.3.
// Standard input is the document, standard output one JSON document; the status is 1 when the answer is no.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"strings"

	butane "github.com/coreos/butane/config"
	"github.com/coreos/butane/config/common"
	"github.com/coreos/ign-converter/translate/v23tov30"
	spec2 "github.com/coreos/ignition/config/v2_3"
	spec3 "github.com/coreos/ignition/v2/config"
	"github.com/coreos/vcontext/report"
)

type entry struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Path    string `json:"path,omitempty"`
	Line    int64  `json:"line,omitempty"`
}

type answer struct {
	OK      bool            `json:"ok"`
	Parser  string          `json:"parser"`
	Version string          `json:"version,omitempty"`
	Error   string          `json:"error,omitempty"`
	Entries []entry         `json:"entries,omitempty"`
	Config  json.RawMessage `json:"config,omitempty"`
}

func main() {
	do := flag.String("do", "validate", "validate, translate (2.3 to 3.0) or butane")
	flag.Parse()
	data, err := io.ReadAll(os.Stdin)
	got := answer{}
	if err == nil {
		switch {
		case *do == "butane":
			err = translateButane(data, &got)
		case strings.HasPrefix(version(data, &got), "2."):
			err = parse2(data, *do == "translate", &got)
		default:
			err = parse3(data, &got)
		}
	}
	if err != nil {
		got.Error = err.Error()
	}
	got.OK = err == nil
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(got); err != nil || !got.OK {
		os.Exit(1)
	}
}

func version(data []byte, got *answer) string {
	var document struct {
		Ignition struct {
			Version string `json:"version"`
		} `json:"ignition"`
	}
	if json.Unmarshal(data, &document) == nil {
		got.Version = document.Ignition.Version
	}
	return got.Version
}

func parse3(data []byte, got *answer) error {
	got.Parser = "ignition/v2"
	config, found, err := spec3.Parse(data)
	got.Entries = entries(found)
	if err == nil && found.IsFatal() {
		err = errors.New("the report holds a fatal entry")
	}
	if err != nil {
		return err
	}
	got.Config, err = json.Marshal(config)
	return err
}

func parse2(data []byte, translate bool, got *answer) error {
	got.Parser = "ignition/config/v2_3"
	config, found, err := spec2.Parse(data)
	for _, one := range found.Entries {
		got.Entries = append(got.Entries, entry{Kind: one.Kind.String(), Message: one.Message, Line: int64(one.Line)})
	}
	if err == nil && found.IsFatal() {
		err = errors.New("the report holds a fatal entry")
	}
	if err != nil || !translate {
		return err
	}
	translated, err := v23tov30.Translate(config, map[string]string{"root": "/"})
	if err != nil {
		return err
	}
	got.Config, err = json.Marshal(translated)
	return err
}

func translateButane(data []byte, got *answer) error {
	got.Parser = "butane"
	output, found, err := butane.TranslateBytes(data, common.TranslateBytesOptions{})
	got.Entries = entries(found)
	if err == nil && found.IsFatal() {
		err = errors.New("the report holds a fatal entry")
	}
	if err == nil {
		got.Config = output
	}
	return err
}

func entries(found report.Report) (all []entry) {
	for _, one := range found.Entries {
		got := entry{Kind: one.Kind.String(), Message: one.Message, Path: one.Context.String()}
		if one.Marker.StartP != nil {
			got.Line = one.Marker.StartP.Line
		}
		all = append(all, got)
	}
	return all
}
