package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"sluice/internal/alert"
	"sluice/internal/bell"
	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/hook"
	"sluice/internal/rules"
	"sluice/internal/tool"
)

// underWay is longer than anything that was taken can be under way after its wait: whatever
// is older waits for somebody who does not come.
const underWay = 3 * time.Minute

// openAlerts makes the stage that looks after alerts. Every process is watched; those that
// know the controller may watch.
func (n *node) openAlerts() (err error) {
	sender, err := hook.NewSender(hook.Config{Private: func() bool { return n.live.rules().Alerts.AllowPrivate }})
	if err != nil {
		return fmt.Errorf("alerts: %w", err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	link := ""
	if n.settings.PublicURL != "" {
		link = strings.TrimSuffix(n.settings.PublicURL, "/") + "/admin#alerts"
	}
	n.bell, err = bell.New(n.engine.queue, bell.Config{
		Node: n.live.name, Here: alert.Node{Host: host, Roles: n.roles.String()}, Judges: n.roles.api || n.roles.dispatcher,
		Rules:  func() alert.Rules { return alertRules(n.live.rules().Alerts) },
		Repeat: func() time.Duration { return n.live.rules().Alerts.Repeat },
		Hooks:  func() []bell.Hook { return alertHooks(n.live.rules().Alerts, os.Getenv) },
		Read:   n.reading, Refused: n.refusals.Sum, Link: link, Sender: sender, Log: n.log,
	})
	return err
}

// reading tells how everything stands, as far as it is known.
func (n *node) reading(ctx context.Context, s alert.State) alert.Reading {
	q, now := n.engine.queue, time.Now()
	r := alert.Reading{Waits: n.alertWaits(ctx, now)}
	if states, err := n.line.member.VendorStates(); err == nil {
		r.Permits, r.Breakers = map[string]alert.Permits{}, map[string]bool{}
		for name, v := range states {
			r.Breakers[name] = v.State == gate.BreakerOpen
			if _, isTool := tool.Named(name); !isTool {
				r.Permits[name] = alert.Permits{InUse: v.InUse, Limit: v.Limit}
			}
		}
	}
	level := n.level()
	r.Level = &level
	if lag, err := q.Lag(ctx, now); err == nil {
		r.Lag = &lag
	}
	r.Dead = news(ctx, s, alert.DeadLetter, q.BuriedSince)
	r.Broken = news(ctx, s, alert.PromiseBroken, q.BrokenSince)
	return r
}

// news counts what came since the last look; before the first one nothing is news. Nil: it
// cannot be counted now.
func news(ctx context.Context, s alert.State, name alert.Name, since func(context.Context, uint64) (int, uint64, error)) *alert.News {
	place, known := s.Upto[name]
	if !known {
		place = math.MaxUint64
	}
	count, upto, err := since(ctx, place)
	if err != nil {
		return nil
	}
	return &alert.News{Count: count, Upto: upto}
}

// alertWaits returns the longest wait of each lane; nil: of some lane it is not known.
func (n *node) alertWaits(ctx context.Context, now time.Time) map[string]alert.Wait {
	all := map[string]alert.Wait{}
	for _, lane := range chat.Lanes() {
		longest, err := n.longestWait(ctx, lane, now)
		if err != nil {
			return nil
		}
		all[string(lane)] = alert.Wait{Longest: longest, Max: n.live.rules().Lanes[lane].MaxWait}
	}
	return all
}

// longestWait returns how long the ticket of a lane waits that waits longest: for somebody to
// take it, or, where it was taken, beyond the time that any answer takes.
func (n *node) longestWait(ctx context.Context, lane chat.Lane, now time.Time) (time.Duration, error) {
	untaken, err := n.engine.queue.Untaken(ctx, lane)
	if err != nil {
		return 0, err
	}
	fill, err := n.engine.queue.Fill(ctx, lane)
	if err != nil {
		return 0, err
	}
	var longest time.Duration
	if !untaken.IsZero() {
		longest = now.Sub(untaken)
	}
	if !fill.Oldest.IsZero() {
		longest = max(longest, now.Sub(fill.Oldest)-underWay)
	}
	return max(longest, 0), nil
}

// level returns the highest that any ticket feels.
func (n *node) level() int {
	level := 0
	for _, l := range n.line.member.Levels() {
		level = max(level, l)
	}
	return level
}

// alertRules returns what the rules say of alerts.
func alertRules(a rules.Alerts) alert.Rules {
	r := alert.Rules{
		Busy: alert.Share(a.PermitsBusy), Spent: alert.Share(a.PermitsSpent), Refusals: a.Refusals, Level: a.Level, Wait: a.Wait,
		Lag: a.RecorderLag, Lasts: a.Lasts,
	}
	for _, name := range a.Off {
		r.Off = append(r.Off, alert.Name(name))
	}
	return r
}

// alertHooks returns whom alerts are told, with what the environment holds. One whose variable
// is not set here is there all the same: what it is to be told waits.
func alertHooks(a rules.Alerts, getenv func(string) string) []bell.Hook {
	var all []bell.Hook
	for _, w := range a.Webhooks {
		h := bell.Hook{ID: alertHookID(w), Kind: bell.Kind(w.Kind), URL: w.URL, Lang: alert.Lang(w.Lang)}
		for _, v := range []struct {
			name string
			into *string
		}{{w.URLEnv, &h.URL}, {w.SecretEnv, &h.Secret}} {
			if v.name == "" {
				continue
			}
			if *v.into = getenv(v.name); *v.into == "" {
				h.Fault = "the environment variable " + v.name + " is not set"
			}
		}
		if !slices.ContainsFunc(all, func(other bell.Hook) bool { return other.ID == h.ID }) {
			all = append(all, h)
		}
	}
	return all
}

// checkAlertHooks tells what alerts lack in this environment.
func checkAlertHooks(r *rules.Rules) error {
	var faults []error
	for _, h := range alertHooks(r.Alerts, os.Getenv) {
		if h.Fault != "" {
			faults = append(faults, fmt.Errorf("alerts: webhook %s: %s", h.ID, h.Fault))
		}
	}
	return errors.Join(faults...)
}

// alertHookID names a webhook so that it may be shown: its kind, and what tells two apart.
func alertHookID(w rules.AlertWebhook) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{w.Kind, w.URL, w.URLEnv, w.Lang}, "\x00")))
	return w.Kind + "-" + hex.EncodeToString(sum[:4])
}
