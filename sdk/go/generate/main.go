// Generate writes the Go code of the contract into slipway/v1alpha1: `go run ./generate PROTO_FOLDER`.
//
// It is protoc in forty lines: it compiles the proto files and hands them to the standard plugins, whose versions
// go.mod pins, so that nothing but Go has to be installed. `protoc` and `buf generate` give the same code with the same
// options: paths=source_relative, and one M option a file, since the contract names no Go package.
package main

import (
	"bytes"
	"context"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	protos    = "slipway/v1alpha1"
	goPackage = "slipway.dev/sdk/slipway/v1alpha1;slipwaypb"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: generate PROTO_FOLDER")
	}
	request, err := compile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	for _, plugin := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := run(plugin, request); err != nil {
			log.Fatalf("%s: %v", plugin, err)
		}
	}
}

// compile gives what a plugin is asked: all files in the order of their imports, and which of them are to be generated.
func compile(folder string) (*pluginpb.CodeGeneratorRequest, error) {
	found, err := filepath.Glob(filepath.Join(folder, protos, "*.proto"))
	if err != nil {
		return nil, err
	}
	request := &pluginpb.CodeGeneratorRequest{}
	options := []string{"paths=source_relative"}
	for _, path := range found {
		name := protos + "/" + filepath.Base(path)
		request.FileToGenerate = append(request.FileToGenerate, name)
		options = append(options, "M"+name+"="+goPackage)
	}
	request.Parameter = proto.String(strings.Join(options, ","))
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{folder}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), request.FileToGenerate...)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, file := range files {
		add(request, file, seen)
	}
	return request, nil
}

func add(request *pluginpb.CodeGeneratorRequest, file protoreflect.FileDescriptor, seen map[string]bool) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	for index := range file.Imports().Len() {
		add(request, file.Imports().Get(index).FileDescriptor, seen)
	}
	request.ProtoFile = append(request.ProtoFile, protoutil.ProtoFromFileDescriptor(file))
}

func run(plugin string, request *pluginpb.CodeGeneratorRequest) error {
	question, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	command := exec.Command("go", "tool", plugin)
	command.Stdin, command.Stderr = bytes.NewReader(question), os.Stderr
	answer, err := command.Output()
	if err != nil {
		return err
	}
	response := &pluginpb.CodeGeneratorResponse{}
	if err := proto.Unmarshal(answer, response); err != nil {
		return err
	}
	if response.Error != nil {
		log.Fatalf("%s: %s", plugin, response.GetError())
	}
	for _, file := range response.File {
		if err := os.MkdirAll(filepath.Dir(file.GetName()), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file.GetName(), []byte(file.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
