package api

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"sluice/internal/chat"
	"sluice/internal/queue"
)

func (f *fixture) send(key string, body map[string]any, headers ...string) answer {
	f.t.Helper()
	return f.call("POST", "/v1/tickets", key, body, headers...)
}

func TestPauseGoesOnTakingIn(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	a := all[0].admin("POST", "lanes/normal/pause", why)
	if a.status != http.StatusOK || a.text("state") != "paused" || a.text("actor") != "admin" || a.text("reason") != "because of a test" {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	all[0].await("the pause at the other node", func() bool { return all[1].deps.Lanes.State(chat.Normal) == chat.LanePaused })
	if got := all[1].send(all[1].shop.Secret, map[string]any{"message": "hello"}); got.status != http.StatusAccepted {
		t.Errorf("intake while paused: %d %s", got.status, got.raw)
	}
	if a := all[1].admin("POST", "lanes/normal/pause", why); a.status != http.StatusOK {
		t.Errorf("the same again: %d %s", a.status, a.raw)
	}
	refused(t, all[0].admin("POST", "lanes/normal/undrain", why), http.StatusConflict, "lane_state")
	if a := all[0].admin("POST", "lanes/normal/resume", why); a.text("state") != "open" {
		t.Errorf("resume: %d %s", a.status, a.raw)
	}
}

func TestDrainEmptiesALaneOverBothNodes(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	one, two := all[0], all[1]
	before := one.send(one.shop.Secret, map[string]any{"message": "before"}, "Idempotency-Key", "k1")
	asked := one.send(one.shop.Secret, map[string]any{"message": "same", "session_id": "s1"})
	one.admin("POST", "lanes/normal/pause", why)
	if a := one.admin("POST", "lanes/normal/drain", why); a.status != http.StatusOK || a.text("state") != "draining" {
		t.Fatalf("%d %s", a.status, a.raw)
	}
	for _, f := range all {
		f.await("the drain", func() bool { return f.deps.Lanes.State(chat.Normal) == chat.LaneDraining })
		got := f.send(f.shop.Secret, map[string]any{"message": "during"})
		refused(t, got, http.StatusServiceUnavailable, "draining")
		if got.header.Get("Retry-After") != "30" || got.text("reply") == "" {
			t.Errorf("%v %s", got.header, got.raw)
		}
		refused(t, f.send(f.demo.Secret, map[string]any{"message": "for later", "lane": "normal"}), http.StatusServiceUnavailable, "draining")
		if got := f.send(f.demo.Secret, map[string]any{"message": "elsewhere", "lane": "low"}); got.status != http.StatusAccepted {
			t.Errorf("another lane: %d %s", got.status, got.raw)
		}
		// What was accepted before is met again.
		got = f.send(f.shop.Secret, map[string]any{"message": "before"}, "Idempotency-Key", "k1")
		if got.status != http.StatusOK || got.text("ticket_id") != before.text("ticket_id") {
			t.Errorf("the same key: %d %s", got.status, got.raw)
		}
		refused(t, f.send(f.shop.Secret, map[string]any{"message": "other"}, "Idempotency-Key", "k1"), http.StatusConflict, "idempotency_conflict")
		got = f.send(f.shop.Secret, map[string]any{"message": "same", "session_id": "s1"})
		if got.status != http.StatusOK || got.text("ticket_id") != asked.text("ticket_id") {
			t.Errorf("the same question: %d %s", got.status, got.raw)
		}
	}
	refused(t, one.admin("POST", "lanes/normal/pause", why), http.StatusConflict, "lane_state")
	if l := one.lane(chat.Normal); l.State != chat.LaneDraining || l.Depth != 2 {
		t.Errorf("%+v", l)
	}
	for range 2 {
		two.end(two.take(chat.Normal))
	}
	one.await("the end of the drain", func() bool { return one.lane(chat.Normal).State == chat.LaneDrained })
	if a := two.admin("POST", "lanes/normal/drain", why); a.text("state") != "drained" {
		t.Errorf("drain again: %d %s", a.status, a.raw)
	}
	if a := two.admin("POST", "lanes/normal/undrain", why); a.text("state") != "open" {
		t.Errorf("undrain: %d %s", a.status, a.raw)
	}
	one.await("the opening", func() bool {
		return one.send(one.shop.Secret, map[string]any{"message": "after"}).status == http.StatusAccepted
	})
}

func TestUrgentStaysInItsOwnLaneWhileHighDrains(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.admin("POST", "lanes/high/drain", why)
	f.await("the drain", func() bool { return f.deps.Lanes.State(chat.High) == chat.LaneDraining })
	got := f.send(f.shop.Secret, map[string]any{"message": "refund!"})
	if got.status != http.StatusAccepted || got.text("lane") != "normal" || got.json["urgent"] != true {
		t.Errorf("%d %s", got.status, got.raw)
	}
	refused(t, f.send(f.demo.Secret, map[string]any{"message": "refund!"}), http.StatusServiceUnavailable, "draining") // its own is high
}

func TestPurgeAndAnswerReturnTheirCounts(t *testing.T) {
	t.Parallel()
	all := nodes(t, 2)
	one, two := all[0], all[1]
	var ids []string
	for range 3 {
		ids = append(ids, one.send(one.shop.Secret, map[string]any{"message": "please"}).text("ticket_id"))
	}
	job, s := two.take(chat.Normal)
	got := two.admin("POST", "lanes/normal/purge", why)
	if got.status != http.StatusOK || got.json["ended"] != 2.0 || got.json["left"] != 1.0 || got.json["done"] != true {
		t.Fatalf("%d %s", got.status, got.raw)
	}
	two.end(job, s)
	cancelled := 0
	for _, id := range ids {
		tk := one.call("GET", "/v1/tickets/"+id, one.shop.Secret, nil)
		if tk.text("status") == "cancelled" && tk.text("reason") == "operator" {
			cancelled++
		}
	}
	if cancelled != 2 {
		t.Errorf("%d tickets are cancelled, want 2", cancelled)
	}
	one.send(one.shop.Secret, map[string]any{"message": "again"})
	got = one.admin("POST", "lanes/normal/answer", why)
	if got.status != http.StatusOK || got.text("way") != "answer" || got.json["ended"] != 1.0 {
		t.Errorf("%d %s", got.status, got.raw)
	}
	overview := one.admin("GET", "overview", nil)
	var o Overview
	must(t, json.Unmarshal(overview.raw, &o))
	if l := o.Lanes[1]; l.Lane != chat.Normal || l.Depth != 0 || l.Clearing == nil || l.Clearing.Way != queue.ClearByAnswer || *l.Waiting != 0 {
		t.Errorf("%s", overview.raw)
	}
	if o.Level != 3 || o.Levels[chat.Normal] != 2 || len(o.LevelChanges) != 1 || o.LevelChanges[0].Cause != "depth" {
		t.Errorf("levels: %s", overview.raw)
	}
	if len(o.Intakes) != 2 || len(o.Vendors) != 3 || o.Vendors[0].Now.InUse != 2 || o.Vendors[1].Now != nil {
		t.Errorf("%s", overview.raw)
	}
}

// deadRequest leaves a purge of normal behind that nobody works on for a while.
func (f *fixture) deadRequest() {
	f.t.Helper()
	f.send(f.shop.Secret, map[string]any{"message": "please"})
	asker, err := queue.NewLanes(f.queue, queue.LanesConfig{Node: "dead"})
	must(f.t, err)
	_, err = asker.Clear(f.t.Context(), queue.Clearing{Lane: chat.Normal, Way: queue.ClearByPurge, Actor: "dead", Reason: "x"})
	must(f.t, err)
}

func TestACallJoinsARequestThatIsBeingWorkedOff(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.deadRequest()
	refused(t, f.admin("POST", "lanes/normal/answer", why), http.StatusConflict, "busy")
	got := f.admin("POST", "lanes/normal/purge", why)
	if got.status != http.StatusOK || got.json["ended"] != 1.0 || got.text("actor") != "dead" {
		t.Errorf("%d %s", got.status, got.raw)
	}
}

func TestACallThatIsCutShortSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	f.deadRequest()
	f.cookie, f.csrf = f.login()
	answered := make(chan answer, 1)
	go func() { answered <- f.admin("POST", "lanes/normal/purge", why) }()
	f.await("the call", func() bool {
		entries, err := f.queue.Audits(t.Context(), 0, 1)
		return err == nil && len(entries) == 1
	})
	f.stop()
	if got := <-answered; got.status != http.StatusAccepted || got.json["done"] != false {
		t.Errorf("%d %s", got.status, got.raw)
	}
}

func TestBadLaneCalls(t *testing.T) {
	t.Parallel()
	f := nodes(t, 1)[0]
	for name, c := range map[string]struct {
		path   string
		body   any
		status int
		code   string
	}{
		"past end":      {"lanes/low/pause", with(map[string]any{"until": "2020-01-01T00:00:00Z"}), 400, "invalid"},
		"no such lane":  {"lanes/urgent/pause", why, 400, "invalid"},
		"no such verb":  {"lanes/low/stop", why, 404, "not_found"},
		"no reason":     {"lanes/low/pause", map[string]any{}, 400, "invalid"},
		"empty reason":  {"lanes/low/pause", map[string]any{"reason": ""}, 400, "invalid"},
		"blank reason":  {"lanes/low/pause", map[string]any{"reason": " \t "}, 400, "invalid"},
		"long reason":   {"lanes/low/pause", map[string]any{"reason": strings.Repeat("长", 501)}, 400, "invalid"},
		"bell":          {"lanes/low/purge", map[string]any{"reason": "a\u0007"}, 400, "invalid"},
		"unknown field": {"lanes/low/purge", map[string]any{"reason": "a", "lane": "high"}, 400, "invalid"},
		"no body":       {"lanes/low/drain", nil, 400, "invalid"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, f.admin("POST", c.path, c.body), c.status, c.code) })
	}
	if l := f.lane(chat.Low); l.State != chat.LaneOpen || l.Clearing != nil {
		t.Errorf("%+v", l)
	}
	if entries, err := f.queue.Audits(t.Context(), 0, 10); err != nil || len(entries) != 0 {
		t.Errorf("the audit holds %+v (%v)", entries, err)
	}
}
