// Command talos-types reads the types of Talos' machine configuration, by reflection and by its own decoder.
//
//	schema   writes the fields of every kind as JSON
//	strict   reads JSON texts that are patches, and writes for each whether Talos loads it
package main

import (
	"encoding"
	"encoding/json"
	"io"
	"net/netip"
	"os"
	"reflect"
	"strings"
	"sync"
	"time"
	_ "unsafe" // For the name of Talos' registry of kinds.

	"github.com/siderolabs/talos/pkg/machinery/config/config"
	"github.com/siderolabs/talos/pkg/machinery/config/configloader"
)

const version = "v1alpha1" // Of all kinds.

// The registry has no exported list of its kinds in older versions.
//
//go:linkname registry github.com/siderolabs/talos/pkg/machinery/config/internal/registry.registry
var registry *struct {
	m          sync.Mutex
	registered map[string]func(version string) config.Document
}

// Types with a decoder of their own that is not encoding.TextUnmarshaler, by name.
var decoders = map[string]string{
	"ArgValue":               "stringOrStrings",
	"Base64Bytes":            "bytes",
	"DiskSize":               "size",
	"Endpoint":               "string",
	"InstallDiskSizeMatcher": "string",
	"PortRange":              "string",
	"StringBytes":            "string",
	"URL":                    "string",
	"Unstructured":           "{}any",
}

var scalars = map[reflect.Type]string{
	reflect.TypeOf(time.Duration(0)): "duration",
	reflect.TypeOf(netip.Addr{}):     "address",
	reflect.TypeOf(netip.Prefix{}):   "prefix",
}

var textUnmarshaler = reflect.TypeOf((*encoding.TextUnmarshaler)(nil)).Elem()

type schema struct {
	Kinds map[string]string            `json:"kinds"`
	Types map[string]map[string]string `json:"types"`
}

func (s *schema) name(t reflect.Type) string {
	if word, ok := scalars[t]; ok {
		return word
	}
	if word, ok := decoders[t.Name()]; ok {
		return word
	}
	if reflect.PointerTo(t).Implements(textUnmarshaler) {
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.name(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16,
		reflect.Uint32, reflect.Uint64:
		return t.Kind().String()
	case reflect.Float32, reflect.Float64:
		return "float"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 { // Of a struct with a decoder of its own, for base64.
			return "bytes"
		}
		return "[]" + s.name(t.Elem())
	case reflect.Map:
		return "{}" + s.name(t.Elem())
	case reflect.Interface:
		return "any"
	case reflect.Struct:
		id := t.PkgPath()[strings.LastIndex(t.PkgPath(), "/")+1:] + "." + t.Name()
		if _, done := s.Types[id]; !done {
			s.Types[id] = map[string]string{}
			s.fields(t, s.Types[id])
		}
		return "#" + id
	}
	panic(t.String())
}

func (s *schema) fields(t reflect.Type, into map[string]string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		if strings.Contains(options, "inline") {
			inline := field.Type
			for inline.Kind() == reflect.Pointer {
				inline = inline.Elem()
			}
			s.fields(inline, into)
			continue
		}
		if name == "" {
			name = strings.ToLower(field.Name)
		}
		into[name] = s.name(field.Type)
	}
}

func main() {
	encoder := json.NewEncoder(os.Stdout)
	if os.Args[1] == "schema" {
		result := schema{Kinds: map[string]string{}, Types: map[string]map[string]string{}}
		for kind, makeDocument := range registry.registered {
			document := makeDocument(version)
			if document == nil {
				panic(kind)
			}
			if kind == version { // The main document has a version instead of a kind.
				kind = ""
			}
			result.Kinds[version+" "+kind] = strings.TrimPrefix(result.name(reflect.TypeOf(document)), "#")
		}
		if err := encoder.Encode(result); err != nil {
			panic(err)
		}
		return
	}
	decoder := json.NewDecoder(os.Stdin)
	for {
		var patch string
		if err := decoder.Decode(&patch); err == io.EOF {
			return
		} else if err != nil {
			panic(err)
		}
		_, err := configloader.NewFromBytes([]byte(patch), configloader.WithAllowPatchDelete())
		if err := encoder.Encode(err == nil); err != nil {
			panic(err)
		}
	}
}
