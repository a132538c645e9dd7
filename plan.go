package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"sluice/internal/plan"
	"sluice/internal/rules"
)

// planCmd computes what the rules can carry.
type planCmd struct {
	Rules      string        `help:"Rules file; none: the shipped rules." env:"SLUICE_RULES"`
	Rate       float64       `help:"Messages a second at the peak." required:""`
	Call       time.Duration `help:"A call of a vendor, on average, from beginning to end." required:""`
	P99        time.Duration `name:"p99" help:"p99 of calls (none: 2.5 times the mean)."`
	FirstToken time.Duration `name:"first-token" help:"p99 of the time to the first token (none: as of calls)."`
	Calls      float64       `help:"Calls that an answer takes on average: an agent makes one more for each round of tools." default:"1"`
	Tokens     int           `help:"Tokens of a call, prompt and answer." default:"1000"`
	Sockets    int           `help:"Sockets that are open at once." default:"0"`
	JSON       bool          `name:"json" help:"Write JSON."`
}

// Run shows the plan.
func (c *planCmd) Run(out io.Writer) error {
	if c.Calls == 0 {
		return errors.New("calls 0: must be from 1 to 100")
	}
	name, doc, err := readRules(c.Rules)
	if err != nil {
		return err
	}
	r, err := rules.Parse(name, doc)
	if err != nil {
		return err
	}
	found, err := plan.New(r, plan.Load{
		Rate: c.Rate, Calls: c.Calls, Call: c.Call, P99: c.P99, FirstToken: c.FirstToken, Tokens: c.Tokens, Sockets: c.Sockets,
	})
	if err != nil {
		return err
	}
	if !c.JSON {
		return found.Table(out)
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(found); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	return nil
}
