package drill

import (
	"errors"
	"fmt"
	"slices"

	"sluice/internal/report"
)

// Config says which drill is played and how.
type Config struct {
	Scenario string // one of Scenarios, or All. Required.
	Quick    bool   // half a minute or so each, else up to two minutes

	// Binary is the program whose processes make up the private instance: this one.
	// Required.
	Binary string

	// Dir is where everything of the run is kept; it is removed afterwards. Defaults to a
	// new directory among the temporary ones.
	Dir string

	// Again is how often a drill that failed is played once more: what is measured in real
	// time fails on a machine that does other things, too. Defaults to 0.
	Again int

	Seed uint64 // makes vendors, messages and customers repeatable
	Show report.Progress
}

// All plays every scenario, one after the other.
const All = "all"

// Validate names the first field that is wrong, with its value.
func (c Config) Validate() error {
	if c.Binary == "" {
		return errors.New("binary: must not be empty")
	}
	if c.Again < 0 || c.Again > 10 {
		return fmt.Errorf("again %d: must be from 0 to 10", c.Again)
	}
	if c.Scenario != All && !slices.Contains(Scenarios(), c.Scenario) {
		return fmt.Errorf("scenario %q: is none of %v", c.Scenario, append(Scenarios(), All))
	}
	return nil
}
