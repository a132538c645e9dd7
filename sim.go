package main

import (
	"context"
	"fmt"
	"io"

	"sluice/internal/sim"
)

// simCmd runs the simulated vendors alone.
type simCmd struct {
	Control string `help:"Address of the control port." default:"127.0.0.1:9190"`
}

// Run serves until the context ends.
func (c *simCmd) Run(ctx context.Context, out io.Writer) error {
	server, err := sim.Listen(ctx, c.Control, sim.Defaults())
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintln(out, "Simulated vendors are ready.")
	for _, v := range server.Vendors() {
		_, _ = fmt.Fprintf(out, "  %-9s %s (quota %d)\n", v.Name(), server.URL(v.Name()), v.Stats().Quota)
	}
	_, _ = fmt.Fprintf(out, "  %-9s GET %[2]s/sim/stats, PUT or PATCH %[2]s/sim/behaviour, POST %[2]s/sim/reset\n", "control", server.ControlURL())
	return server.Run(ctx)
}
