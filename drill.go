package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"sluice/internal/drill"
)

// drillCmd breaks things in a private instance and judges what happens.
type drillCmd struct {
	Scenario string `arg:"" enum:"${drills}" help:"One of ${drills}."`
	Quick    bool   `help:"Half a minute or so each, in place of up to two minutes."`
	Again    int    `help:"How often a drill that failed is played once more, as on a machine that does other things too." default:"0"`
	Seed     uint64 `help:"Makes vendors, messages and customers repeatable." default:"1"`
	JSON     string `name:"json" help:"Write the reports to a file, as JSON." type:"path"`
	HTML     string `name:"html" help:"Write the reports to a file, as a page with charts." type:"path"`
}

// errDrill says that a promise was broken.
var errDrill = errors.New("the drill found broken promises: see the checks")

// Run plays the drill and shows its table. A check that fails is an error.
func (c *drillCmd) Run(ctx context.Context, out io.Writer) error {
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	cfg := drill.Config{Scenario: c.Scenario, Quick: c.Quick, Binary: binary, Again: c.Again, Seed: c.Seed, Show: progress()}
	found, err := drill.Run(ctx, cfg, func(r *drill.Report) error { return r.Table(out) })
	if found == nil {
		return err
	}
	if len(found.Drills) > 1 {
		err = errors.Join(err, found.Table(out))
	}
	err = errors.Join(err, writeReport(c.JSON, found.JSON), writeReport(c.HTML, found.HTML))
	if err == nil && !found.OK {
		err = errDrill
	}
	return err
}

// brokerCmd is a node of a drill's NATS cluster; drills run it, people need not.
type brokerCmd struct {
	Name   string `required:"" help:"Name of the node."`
	Dir    string `required:"" help:"Where JetStream stores its files." type:"path"`
	Client int    `required:"" help:"Port of the clients."`
	Route  int    `help:"Port of the other nodes; 0: there are none."`
	Routes []int  `help:"Ports of all nodes."`
}

// Run serves until the context ends.
func (c *brokerCmd) Run(ctx context.Context) error {
	return drill.Broker{Name: c.Name, Dir: c.Dir, Client: c.Client, Route: c.Route, Routes: c.Routes}.Serve(ctx)
}
