package load

import (
	"fmt"
	"time"
)

// What a ramp is when its config says nothing else.
const (
	DefaultRampMax    = 200
	DefaultRampCalls  = 3000
	DefaultRampTokens = 200_000
	DefaultRampStep   = 3 * time.Second
)

// RampConfig bounds a ramp. The zero value is the default.
type RampConfig struct {
	Max    int           // most calls at once, 1 to 1,000. Defaults to 200.
	Calls  int           // budget: calls in all. Defaults to 3,000.
	Tokens int           // budget: tokens of prompts and answers in all. Defaults to 200,000.
	Step   time.Duration // how long a step begins new calls, 100ms to 1m. Defaults to 3s.
}

// Validate names the first field that is wrong, with its value.
func (c RampConfig) Validate() error {
	switch {
	case c.Max < 0 || c.Max > 1000:
		return fmt.Errorf("max %d: must be from 1 to 1000, or 0 for the default", c.Max)
	case c.Calls < 0:
		return fmt.Errorf("calls %d: must not be negative", c.Calls)
	case c.Tokens < 0:
		return fmt.Errorf("tokens %d: must not be negative", c.Tokens)
	case c.Step != 0 && (c.Step < 100*time.Millisecond || c.Step > time.Minute):
		return fmt.Errorf("step %s: must be from 100ms to 1m, or 0 for the default", c.Step)
	}
	return nil
}

func (c RampConfig) withDefaults() RampConfig {
	if c.Max == 0 {
		c.Max = DefaultRampMax
	}
	if c.Calls == 0 {
		c.Calls = DefaultRampCalls
	}
	if c.Tokens == 0 {
		c.Tokens = DefaultRampTokens
	}
	if c.Step == 0 {
		c.Step = DefaultRampStep
	}
	return c
}

// Account is the vendor's account that a ramp is made against, as its rules would name it.
type Account struct {
	Name   string // in the proposed rules
	URL    string
	KeyEnv string // the variable that holds the key; empty: none
	Model  string
}
