package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/alert"
	"sluice/internal/chat"
	"sluice/internal/queue"
)

// Alerts tells what is wrong, and whom.
type Alerts interface {
	State(ctx context.Context) (alert.State, error)
	// Test has a message sent to each webhook of the rules, and returns how many there are.
	Test(ctx context.Context) (int, error)
}

// Both is a text in both languages.
type Both struct {
	Chinese string `json:"zh"`
	English string `json:"en"`
}

// Alert is something that is wrong, or was.
type Alert struct {
	Key       string         `json:"key" doc:"name and target"`
	Name      alert.Name     `json:"name" enum:"permits_busy,permits_spent,refusals,breaker_open,level_high,wait_long,promise_broken,dead_letter,node_lost,recorder_lag"`
	Severity  alert.Severity `json:"severity" enum:"warning,critical"`
	Target    string         `json:"target" doc:"vendor, tool, lane or process; empty: the whole"`
	Since     time.Time      `json:"since"`
	Value     float64        `json:"value" doc:"up to a minute old; of wait_long and recorder_lag in seconds"`
	Threshold float64        `json:"threshold"`
	Summary   Both           `json:"summary"`
	Help      Both           `json:"help" doc:"what to do"`
	EndedAt   *time.Time     `json:"ended_at,omitempty"`
}

// AlertHook is one webhook that alerts are told to.
type AlertHook struct {
	ID      string     `json:"id" doc:"its kind, and what tells two apart"`
	Waiting int        `json:"waiting" doc:"messages that it has not taken yet, 5 at most"`
	At      *time.Time `json:"at,omitempty" doc:"of the latest try"`
	Fault   string     `json:"fault,omitempty" doc:"of the latest try; left out: it was taken"`
}

// AlertPage is what is wrong now, and what was.
type AlertPage struct {
	Firing   []Alert     `json:"firing" nullable:"false"`
	Recent   []Alert     `json:"recent" nullable:"false" doc:"the last 100 that have ended, the latest first"`
	Webhooks []AlertHook `json:"webhooks" nullable:"false" doc:"those that there was something for"`
}

type alertOutput struct{ Body AlertPage }

// AlertTest says how many webhooks a test goes to.
type AlertTest struct {
	Webhooks int `json:"webhooks"`
}

type alertTestInput struct{ Body reasoned }

type alertTestOutput struct{ Body AlertTest }

const codeNoWebhook = "no_webhook"

func (a *API) registerAlerts(api huma.API) {
	manage(a, api, huma.Operation{
		OperationID: "admin-alerts", Method: http.MethodGet, Path: "alerts", Summary: "What is wrong now, and what was",
	}, nil, func(ctx context.Context, _ *struct{}) (*alertOutput, error) {
		page, err := a.alertPage(ctx)
		return &alertOutput{page}, err
	})
	manage(a, api, huma.Operation{
		OperationID: "admin-test-alerts", Method: http.MethodPost, Path: "alerts/test", Summary: "Send a test to the webhooks of the alerts",
		Description:   "It goes within seconds; what came of it stands in `GET alerts`. 409 `no_webhook`: the rules name none.",
		DefaultStatus: http.StatusAccepted, Middlewares: huma.Middlewares{checkedAs[reasoned]},
	}, []int{400, 409, 413}, a.testAlerts)
}

// alertPage returns what is wrong now, and what was.
func (a *API) alertPage(ctx context.Context) (AlertPage, error) {
	page := AlertPage{Firing: []Alert{}, Recent: []Alert{}, Webhooks: []AlertHook{}}
	if a.deps.Alerts == nil {
		return page, nil
	}
	s, err := a.deps.Alerts.State(ctx)
	if err != nil {
		return page, unavailable(err)
	}
	for _, one := range s.Alerts() {
		page.Firing = append(page.Firing, alertOf(one))
	}
	for _, one := range s.Recent {
		page.Recent = append(page.Recent, alertOf(one))
	}
	page.Webhooks = alertHooksOf(s)
	return page, nil
}

func alertOf(a alert.Alert) Alert {
	shown := Alert{
		Key: a.Key, Name: a.Name, Severity: a.Severity, Target: a.Target, Since: a.Since, Value: a.Value, Threshold: a.Threshold,
		Summary: Both{a.Summary(alert.Chinese), a.Summary(alert.English)},
		Help:    Both{a.Name.Help(alert.Chinese), a.Name.Help(alert.English)},
	}
	if !a.EndedAt.IsZero() {
		shown.EndedAt = &a.EndedAt
	}
	return shown
}

// alertHooksOf returns the webhooks by their ids.
func alertHooksOf(s alert.State) []AlertHook {
	all := []AlertHook{}
	at := func(id string) *AlertHook {
		i := slices.IndexFunc(all, func(h AlertHook) bool { return h.ID == id })
		if i < 0 {
			i, all = len(all), append(all, AlertHook{ID: id})
		}
		return &all[i]
	}
	for _, m := range s.Sends {
		at(m.Hook).Waiting++
	}
	for id, o := range s.Hooks {
		h := at(id)
		h.At, h.Fault = &o.At, o.Fault
	}
	slices.SortFunc(all, func(a, b AlertHook) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return all
}

func (a *API) testAlerts(ctx context.Context, in *alertTestInput) (*alertTestOutput, error) {
	out := &alertTestOutput{}
	err := a.change(ctx, queue.Audit{Action: "alerts.test", Reason: in.Body.Reason}, func() (err error) {
		if a.deps.Alerts != nil {
			if out.Body.Webhooks, err = a.deps.Alerts.Test(ctx); err != nil {
				return unavailable(err)
			}
		}
		if out.Body.Webhooks == 0 {
			return &chat.Error{Kind: chat.Conflict, Code: codeNoWebhook, Detail: "the rules name no webhook for alerts (alerts.webhooks)"}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
