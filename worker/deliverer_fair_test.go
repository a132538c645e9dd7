package worker

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
)

// TestATenantsSlowReceiversDelayNoOtherTenant has one tenant with ten receivers that take
// connections and answer nothing, one of them at the host of the other tenant: each message of
// the other one goes at once, and so does one to a host of the slow tenant's that is well.
func TestATenantsSlowReceiversDelayNoOtherTenant(t *testing.T) {
	inDelivery(t, func(t *testing.T, d *delivery) {
		hang := make(chan struct{})
		defer close(hang)
		d.answer = func(url string, w http.ResponseWriter) {
			if strings.Contains(url, "/slow") {
				<-hang
			}
		}
		for i := range 10 {
			d.announceFor("slow", "t_"+strconv.Itoa(i), "http://service.example/slow/"+strconv.Itoa(i))
		}
		time.Sleep(time.Second)
		for i := range 10 {
			at := time.Now()
			url := "http://service.example/quick/" + strconv.Itoa(i)
			d.announceFor("quick", "q_"+strconv.Itoa(i), url)
			own := "http://own.example/" + strconv.Itoa(i)
			d.announceFor("slow", "o_"+strconv.Itoa(i), own)
			time.Sleep(5 * time.Second)
			for _, url := range []string{url, own} {
				if got := d.got(url); len(got) != 1 || got[0].at.Sub(at) > 5*time.Millisecond {
					t.Errorf("%s: %d posts", url, len(got))
				}
			}
		}
	})
}

// TestATenantHoldsFewPlaces fills the process with the tries of many tenants: none has more
// than its share, and the place that comes free goes to the one with nothing under way.
func TestATenantHoldsFewPlaces(t *testing.T) {
	t.Parallel()
	l, now, n := newLines(), time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), 0
	note := func(tenant string, count int) {
		for range count {
			n++
			l.note(chat.Hook{ID: strconv.Itoa(n), Tenant: tenant, URL: "http://" + strconv.Itoa(n) + ".example/", State: chat.HookWaiting, NextAt: now})
		}
	}
	host := func(h *chat.Hook) string { return hostOf(h.URL) }
	note("t0", 100)
	first, _ := l.due(now, host)
	if len(first) != atOnceTenant {
		t.Fatalf("one tenant has %d under way, want %d", len(first), atOnceTenant)
	}
	for i := 1; i < atOnce/atOnceTenant; i++ {
		note("t"+strconv.Itoa(i), 100)
	}
	if more, _ := l.due(now, host); len(more) != atOnce-atOnceTenant {
		t.Fatalf("%d more under way, want %d", len(more), atOnce-atOnceTenant)
	}
	note("last", 3)
	if more, _ := l.due(now, host); len(more) != 0 {
		t.Fatalf("%d more than the process has places", len(more))
	}
	first[0].gone = true
	l.done(first[0], now, true, 0, now)
	got, _ := l.due(now, host)
	if len(got) != 1 || got[0].hook.Tenant != "last" {
		t.Errorf("%d go on, want the one of the tenant with nothing under way", len(got))
	}
}
