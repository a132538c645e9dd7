package main

import (
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestOnlyWhatTheRulesLetWaitIsPromised(t *testing.T) {
	t.Parallel()
	in, err := unchanging(testRules(t, smallRules))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		intent, phone string
		want          bool
	}{
		"an order, China":                    {"order_track", "+8613800138000", true},
		"an order, the US":                   {"order_track", "+12025550123", true},
		"an invoice, China":                  {"invoice", "+8613800138000", true},
		"an order, Hong Kong":                {"order_track", "+85291234567", false},
		"an order, Canada":                   {"order_track", "+14165550123", false},
		"an order, Germany":                  {"order_track", "+4915112345678", false},
		"a greeting":                         {"greeting", "+8613800138000", false},
		"a refund, which waits for a person": {"refund", "+8613800138000", false},
		"an intent that is none":             {"nothing", "+8613800138000", false},
		"no number":                          {"order_track", "", false},
		"a country code that nobody has":     {"order_track", "+9991234567", false},
	} {
		how, may := in.deferral(&chat.Ticket{Intent: c.intent, Phone: c.phone})
		if may != c.want || may && how.Wait != 30*time.Minute {
			t.Errorf("%s: %v within %s, want %v", name, may, how.Wait, c.want)
		}
		if may {
			how.Leave()
		}
	}
}
