// Sluice is an asynchronous job-queue backend for customer service on LLMs: a bounded
// priority queue, a gate where all calls to a vendor meet, and a valve between them.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"sluice/internal/drill"
)

// commands are what `sluice` can do; without one it serves.
type commands struct {
	Version kong.VersionFlag `help:"Show the version." name:"version"`

	Serve   serveCmd   `cmd:"" default:"withargs" help:"Run everything on embedded defaults."`
	Check   checkCmd   `cmd:"" help:"Validate the rules file and the reachability of the database and every vendor."`
	Migrate migrateCmd `cmd:"" help:"Bring the database up to date."`
	Tenant  tenantCmd  `cmd:"" help:"Tenants of a running instance, and their keys."`
	Ready   readyCmd   `cmd:"" help:"Ask a process on this machine whether it is ready: exit code 0 or 1."`
	Plan    planCmd    `cmd:"" help:"Compute what the rules can carry: capacity, waits, bounds and time-outs."`
	Eval    evalCmd    `cmd:"" help:"Judge how well messages are understood, on labelled files."`
	Sim     simCmd     `cmd:"" help:"Run the simulated vendors alone."`
	Load    loadCmd    `cmd:"" help:"Bounded load against a running instance, or a vendor."`
	Drill   drillCmd   `cmd:"" help:"Break something in a private instance, and judge what happens."`
	Broker  brokerCmd  `cmd:"" hidden:"" help:"A node of a drill's NATS cluster."`

	Operator operatorCmd `cmd:"" help:"Operators of a running instance, and their passwords."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the process at once
	}()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// version is what the build knows of itself: a tag or a commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}

// run runs one command and returns the exit code: 0, 1 for a fault, 80 for a wrong call.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	var cmds commands
	code := -1
	parser, err := kong.New(&cmds, kong.Name("sluice"), kong.Description("An asynchronous job queue for customer service on LLMs."),
		kong.Vars{"version": version(), "drills": strings.Join(append(drill.Scenarios(), drill.All), ",")}, kong.Writers(out, errOut), kong.Exit(func(c int) { code = c }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(out, (*io.Writer)(nil)))
	if err != nil {
		_, _ = fmt.Fprintln(errOut, "sluice:", err)
		return 1
	}
	call, err := parser.Parse(args)
	if code >= 0 {
		return code // --help has been shown
	}
	if err != nil {
		_, _ = fmt.Fprintf(errOut, "sluice: %v (see sluice --help)\n", err)
		return 80
	}
	if err := call.Run(); err != nil {
		_, _ = fmt.Fprintln(errOut, "sluice:", err)
		return 1
	}
	return 0
}
