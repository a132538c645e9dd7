package dispatcher

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/llm"
)

func TestDecide(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	early, late := now.Add(time.Nanosecond), now
	ours := errors.New("ours")
	vendor := fmt.Errorf("ask the model: %w", &llm.Error{Vendor: "a", Kind: llm.Timeout})
	for name, c := range map[string]struct {
		s    situation
		want decision
	}{
		"nothing yet":                        {situation{deadline: early}, decision{action: await}},
		"a permit":                           {situation{deadline: early, permit: true}, decision{action: run}},
		"overdue":                            {situation{deadline: late}, decision{answer, chat.ReasonOverdue}},
		"long overdue":                       {situation{deadline: now.Add(-time.Hour)}, decision{answer, chat.ReasonOverdue}},
		"a permit at the very deadline":      {situation{deadline: late, permit: true}, decision{answer, chat.ReasonOverdue}},
		"a rung without a vendor":            {situation{deadline: early, lesser: chat.ReasonLevel}, decision{answer, chat.ReasonLevel}},
		"a rung without a vendor, overdue":   {situation{deadline: late, lesser: chat.ReasonLevel}, decision{answer, chat.ReasonOverdue}},
		"a rung without a vendor, cancelled": {situation{deadline: early, lesser: chat.ReasonLevel, stopped: errCancelled}, decision{action: drop}},
		"stopping":                           {situation{deadline: early, stopped: errStopping}, decision{action: handBack}},
		"stopping with a permit":             {situation{deadline: early, permit: true, stopped: errStopping}, decision{action: handBack}},
		"stopping, overdue":                  {situation{deadline: late, stopped: errStopping}, decision{answer, chat.ReasonOverdue}},
		"cancelled":                          {situation{deadline: early, stopped: errCancelled}, decision{action: drop}},
		"cancelled with a permit":            {situation{deadline: early, permit: true, stopped: errCancelled}, decision{action: drop}},
		"cancelled, overdue":                 {situation{deadline: late, stopped: errCancelled}, decision{action: drop}},
		"cancelled while it ran":             {situation{deadline: early, permit: true, stopped: errCancelled, failed: errCancelled}, decision{action: drop}},
		"grace is over":                      {situation{deadline: early, permit: true, stopped: errStopping, failed: errStopping}, decision{action: handBack}},
		"grace is over, long overdue":        {situation{deadline: late, permit: true, stopped: errStopping, failed: errStopping}, decision{action: handBack}},
		"vendor failed":                      {situation{deadline: early, permit: true, failed: vendor}, decision{answer, chat.ReasonVendorUnavailable}},
		"vendor failed, overdue":             {situation{deadline: late, permit: true, failed: vendor}, decision{answer, chat.ReasonVendorUnavailable}},
		"the answer took too long":           {situation{deadline: early, permit: true, failed: context.DeadlineExceeded}, decision{answer, chat.ReasonVendorUnavailable}},
		"a fault of ours":                    {situation{deadline: early, permit: true, failed: ours}, decision{bury, chat.ReasonError}},
		"a fault of ours, overdue":           {situation{deadline: late, permit: true, failed: ours}, decision{bury, chat.ReasonError}},
		"spent":                              {situation{deadline: early, spent: true}, decision{bury, chat.ReasonError}},
		"spent, overdue":                     {situation{deadline: late, spent: true}, decision{bury, chat.ReasonError}},
		"spent, stopping":                    {situation{deadline: early, spent: true, stopped: errStopping}, decision{bury, chat.ReasonError}},
		"spent, cancelled":                   {situation{deadline: early, spent: true, stopped: errCancelled}, decision{action: drop}},
		"no permit for a further step":       {situation{deadline: early, permit: true, failed: gate.ErrCrowded}, decision{answer, chat.ReasonError}},
		"a further step is refused":          {situation{deadline: early, permit: true, failed: fmt.Errorf("x: %w", &gate.Refusal{Reason: gate.ReasonUnavailable})}, decision{answer, chat.ReasonVendorUnavailable}},
		"the permit was lost":                {situation{deadline: early, permit: true, failed: fmt.Errorf("x: %w", gate.ErrPermitLost)}, decision{action: abandon}},
		"the permit was lost, stopping":      {situation{deadline: early, permit: true, stopped: errStopping, failed: gate.ErrPermitLost}, decision{action: abandon}},
		"the permit was lost, cancelled":     {situation{deadline: early, permit: true, stopped: errCancelled, failed: gate.ErrPermitLost}, decision{action: drop}},
		"taken by another":                   {situation{deadline: early, permit: true, stopped: errTaken, failed: errTaken}, decision{action: abandon}},
		"wrapped causes are seen through":    {situation{deadline: early, stopped: fmt.Errorf("x: %w", errCancelled)}, decision{action: drop}},
	} {
		c.s.now = now
		if got := decide(c.s); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestConfigNamesTheFieldThatIsWrong(t *testing.T) {
	t.Parallel()
	holds := map[chat.Lane]int{chat.High: 1, chat.Normal: 1, chat.Low: 1}
	under := func(r Rules) func() Rules { return func() Rules { return r } }
	good := under(Rules{Holds: holds, Agent: Chain{Vendors: []string{"a"}}, MaxDeliver: 1})
	for want, cfg := range map[string]Config{
		"dispatcher config: Rules is nil":                                   {},
		"dispatcher config: Rules.Holds[high] must be at least 1, is 0":     {Rules: under(Rules{Agent: Chain{Vendors: []string{"a"}}, MaxDeliver: 1})},
		"dispatcher config: Rules.Agent.Vendors is empty":                   {Rules: under(Rules{Holds: holds, MaxDeliver: 1})},
		"dispatcher config: Rules.MaxDeliver must be at least 1, is 0":      {Rules: under(Rules{Holds: holds, Agent: Chain{Vendors: []string{"a"}}})},
		"dispatcher config: Grace, Answer and History must not be negative": {Rules: good, Grace: -1},
	} {
		if _, err := New(nil, nil, nil, cfg); err == nil || err.Error() != want {
			t.Errorf("err = %v, want %s", err, want)
		}
	}
}
