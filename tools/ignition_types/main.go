// Command ignition-types writes the fields of Ignition's configs by spec version as JSON, by reflection.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	v23 "github.com/coreos/ignition/config/v2_3/types"
	v30 "github.com/coreos/ignition/v2/config/v3_0/types"
	v31 "github.com/coreos/ignition/v2/config/v3_1/types"
	v32 "github.com/coreos/ignition/v2/config/v3_2/types"
	v33 "github.com/coreos/ignition/v2/config/v3_3/types"
	v34 "github.com/coreos/ignition/v2/config/v3_4/types"
)

type schema struct {
	Kinds map[string]string            `json:"kinds"`
	Types map[string]map[string]string `json:"types"`
}

func (s *schema) name(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return s.name(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Int:
		return "int"
	case reflect.Slice:
		return "[]" + s.name(t.Elem())
	case reflect.Struct:
		if _, done := s.Types[t.Name()]; !done {
			s.Types[t.Name()] = map[string]string{}
			s.fields(t, s.Types[t.Name()])
		}
		return "#" + t.Name()
	}
	panic(t.String())
}

func (s *schema) fields(t reflect.Type, into map[string]string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
		case field.Anonymous && name == "":
			s.fields(field.Type, into)
		default:
			if name == "" {
				name = field.Name
			}
			into[name] = s.name(field.Type)
		}
	}
}

func main() {
	schemas := map[string]schema{}
	for version, config := range map[string]any{
		"2.3": v23.Config{}, "3.0": v30.Config{}, "3.1": v31.Config{}, "3.2": v32.Config{}, "3.3": v33.Config{}, "3.4": v34.Config{},
	} {
		result := schema{Kinds: map[string]string{}, Types: map[string]map[string]string{}}
		result.Kinds["ignition Config"] = strings.TrimPrefix(result.name(reflect.TypeOf(config)), "#")
		schemas[version] = result
	}
	if err := json.NewEncoder(os.Stdout).Encode(schemas); err != nil {
		panic(err)
	}
}
