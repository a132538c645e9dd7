package drill

import (
	"context"
	"errors"
	"sluice/internal/report"
)

func poolExhausted(ctx context.Context, d *drill) error { return errors.New("not yet") }
func goodput(ctx context.Context, d *drill) error       { return errors.New("not yet") }

type Goodput struct{}

func (g *Goodput) charts() []*report.Chart { return nil }
