// Command machineadm executes and checks the bootstrap of a machine: the same step data as the runners of Slipway.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime"

	"slipway.dev/machineadm/internal/plan"
)

// version is linked in by the build.
var version = "unknown"

// Exit codes beside those of the commands.
const (
	ok       = 0
	failed   = 1
	misused  = 2
	unknown  = 3
	usageFor = `machineadm COMMAND [FLAG...]

  run           execute the steps that are not done yet; --dry-run only prints them
  status        print what is done, and what has failed
  collect       write the logs of this machine, without secrets, to a file
  preflight     check what this machine needs to become a node
  image-check   check what an image must have
  version       print the version
`
)

type command func(arguments []string, out, err io.Writer) int

func commands() map[string]command {
	all := map[string]command{
		"collect":     collectLogs,
		"preflight":   checkMachine,
		"image-check": checkImage,
		"run":         run,
		"status":      status,
		"version":     tellVersion,
	}
	maps.Copy(all, systemCommands())
	return all
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprint(os.Stderr, usageFor)
		os.Exit(misused)
	}
	do, known := commands()[os.Args[1]]
	switch {
	case known:
		os.Exit(do(os.Args[2:], os.Stdout, os.Stderr))
	case os.Args[1] == "help" || os.Args[1] == "--help" || os.Args[1] == "-h":
		fmt.Print(usageFor)
	default:
		fmt.Fprint(os.Stderr, "machineadm: the command is not known\n", usageFor)
		os.Exit(misused)
	}
}

// flags gives an empty set of flags that tells its mistakes to err.
func flags(name string, err io.Writer) *flag.FlagSet {
	set := flag.NewFlagSet("machineadm "+name, flag.ContinueOnError)
	set.SetOutput(err)
	return set
}

// parse reads the arguments of a command that has flags only.
func parse(set *flag.FlagSet, arguments []string) bool {
	if set.Parse(arguments) != nil {
		return false
	}
	if set.NArg() > 0 {
		fmt.Fprintln(set.Output(), set.Name()+": takes flags only")
		return false
	}
	return true
}

func tellVersion(arguments []string, out, err io.Writer) int {
	if !parse(flags("version", err), arguments) {
		return misused
	}
	fmt.Fprintf(out, "machineadm %s, step data %d, %s/%s\n", version, plan.Format, runtime.GOOS, runtime.GOARCH)
	return ok
}
