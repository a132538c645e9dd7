package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/chat"
)

// VendorState is what the controller knows about a vendor.
type VendorState struct {
	InUse       int        `json:"in_use" doc:"permits"`
	Limit       int        `json:"limit" doc:"permits, as in force now: 0 while it is paused or open, fewer after a 429 and in a ramp"`
	Breaker     string     `json:"breaker,omitempty" doc:"closed, half-open or open"`
	PausedUntil *time.Time `json:"paused_until,omitempty" doc:"after a 429; closing the breaker ends the pause too"`
	// Demand is told beside it, of vendors alone.
	Demand VendorDemand `json:"-"`
}

// Vendors tells of the calls under way, and steers breakers by hand.
type Vendors interface {
	// States returns what is known of each vendor, by name.
	States(ctx context.Context) (map[string]VendorState, error)
	// Running returns how many tickets of each lane a vendor works on.
	Running(ctx context.Context) (map[chat.Lane]int, error)
	// OpenBreaker lets no call through to a vendor until CloseBreaker.
	OpenBreaker(ctx context.Context, vendor string) error
	// CloseBreaker lets calls through again.
	CloseBreaker(ctx context.Context, vendor string) error
	// Levels returns the load level that a ticket of each interactive lane feels, and the
	// latest changes, oldest first.
	Levels(ctx context.Context) (map[chat.Lane]int, []LevelChange, error)
}

// LevelChange is a load level that has changed for the tickets of a lane.
type LevelChange struct {
	At    time.Time `json:"at"`
	Lane  chat.Lane `json:"lane"`
	From  int       `json:"from"`
	To    int       `json:"to"`
	Cause string    `json:"cause" doc:"what was measured beside its threshold, or whose word it was"`
}

// Overview is how everything stands.
type Overview struct {
	Lanes        []Lane            `json:"lanes" nullable:"false"`
	Vendors      []Vendor          `json:"vendors" nullable:"false"`
	Level        int               `json:"level" doc:"the highest that any ticket feels, 0 to 3"`
	Levels       map[chat.Lane]int `json:"levels,omitempty" doc:"that a ticket of each interactive lane feels: by its own lane, those above, and the vendors"`
	LevelChanges []LevelChange     `json:"level_changes,omitempty" doc:"the latest, oldest first"`
	Controller   string            `json:"controller" doc:"the node that grants permits; empty: none now"`
	Dispatchers  []string          `json:"dispatchers" nullable:"false" doc:"nodes that may hold permits"`
	Intakes      []string          `json:"intakes" nullable:"false" doc:"live nodes that take messages in"`
	Checks       []Dependency      `json:"checks" nullable:"false" doc:"what this node works with"`
	Life
}

type overviewOutput struct{ Body Overview }

func (a *API) registerOverview(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-overview", Method: http.MethodGet, Path: "overview", Summary: "How everything stands",
	}, nil, a.overview)
}

func (a *API) overview(ctx context.Context, _ *struct{}) (*overviewOutput, error) {
	o := Overview{Dispatchers: []string{}, Intakes: []string{}, Checks: ask(ctx, a.deps.Checks, a.deps.Log)}
	running := a.running(ctx)
	standings, err := a.deps.Queue.Standings(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	for _, s := range standings {
		l, err := a.laneOf(ctx, s, running)
		if err != nil {
			return nil, err
		}
		o.Lanes = append(o.Lanes, l)
	}
	o.Vendors = a.vendors(ctx)
	o.Levels, o.LevelChanges = a.levels(ctx)
	for _, level := range o.Levels {
		o.Level = max(o.Level, level)
	}
	if o.Controller, err = a.deps.Queue.Controller(ctx); err != nil {
		return nil, unavailable(err)
	}
	dispatchers, err := a.deps.Queue.Nodes(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	intakes, err := a.deps.Queue.Intakes(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	if o.Controller != "" && !slices.Contains(dispatchers, o.Controller) {
		dispatchers = append(dispatchers, o.Controller) // a process that is alone registers nowhere
	}
	o.Dispatchers, o.Intakes = append(o.Dispatchers, dispatchers...), append(o.Intakes, intakes...)
	o.Life = a.life(ctx)
	return &overviewOutput{o}, nil
}

// levels returns the load levels and their changes, as far as somebody tells.
func (a *API) levels(ctx context.Context) (map[chat.Lane]int, []LevelChange) {
	if a.deps.Vendors == nil {
		return nil, nil
	}
	levels, changes, err := a.deps.Vendors.Levels(ctx)
	if err != nil {
		a.deps.Log.Debug().Err(err).Str("stage", "api").Msg("nobody tells how the levels changed")
	}
	return levels, changes
}

// running returns how many tickets of each lane a vendor works on, or nil.
func (a *API) running(ctx context.Context) map[chat.Lane]int {
	if a.deps.Vendors == nil {
		return nil
	}
	running, err := a.deps.Vendors.Running(ctx)
	if err != nil {
		a.deps.Log.Debug().Err(err).Str("stage", "api").Msg("nobody tells what runs")
		return nil
	}
	return running
}
