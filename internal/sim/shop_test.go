package sim

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func newShop(t *testing.T, now time.Time) *Shop {
	t.Helper()
	s, err := NewShop(now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// visit calls the shop for a customer and returns status and body.
func visit(t *testing.T, s *Shop, customer, method, target, body string, headers ...string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	if customer != "" {
		r.Header.Set("X-Customer-Id", customer)
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	got := map[string]any{}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%s %s: %s", method, target, w.Body)
	}
	return w.Code, got
}

func TestTheShopStandsAsIfItsDataWereOfNow(t *testing.T) {
	t.Parallel()
	asOf := time.Date(2026, 11, 28, 4, 0, 0, 0, time.UTC)
	s := newShop(t, asOf.Add(48*time.Hour))
	code, got := visit(t, s, "c002", "GET", "/orders?order=mh2611280012", "", "Accept-Language", "zh")
	if code != 200 || got["placed_at"] != "2026-11-30T11:42:00+08:00" || got["state"] != "placed" || got["ship_to"] != nil {
		t.Errorf("%d %v", code, got)
	}
	items, _ := got["items"].([]any)
	if item, _ := items[0].(map[string]any); item["name"] != "Luma T1 台灯" {
		t.Errorf("items %v", items)
	}
	if to, _ := s.orders["MH2611280012"].fields["ship_to"].(map[string]any); to["phone"] != "+8613800138022" {
		t.Errorf("phone %v", to["phone"])
	}
}

func TestTheShopTellsNobodyOfAnothersOrder(t *testing.T) {
	t.Parallel()
	s := newShop(t, time.Now())
	for _, customer := range []string{"", "c001", "C002"} {
		for _, target := range []string{"/orders?order=MH2611280012", "/logistics?order=MH2611280012", "/refunds?order=MH2611280012"} {
			code, got := visit(t, s, customer, "GET", target, "")
			_, none := visit(t, s, customer, "GET", strings.Replace(target, "0012", "9999", 1), "")
			if code != http.StatusNotFound || len(got) != 1 || got["error"] != none["error"] {
				t.Errorf("%s for %q: %d %v, of none %v", target, customer, code, got, none)
			}
		}
	}
	if n := s.Stats().Foreign; n != 9 {
		t.Errorf("%d foreign", n)
	}
}

func TestARefundIsTakenInOnceForItsKey(t *testing.T) {
	t.Parallel()
	s := newShop(t, time.Now())
	id := s.Own("c010", "paid")
	const key = "Idempotency-Key"
	body := `{"order":"` + id + `","amount":100}`
	for _, c := range []struct {
		customer, body, key string
		want                int
	}{
		{"c010", body, "", 400},
		{"c001", body, "k0", 404},
		{"c010", `{"order":"` + id + `","amount":99999}`, "k0", 422},
		{"c010", body, "k1", 201},
		{"c010", body, "k1", 201},
		{"c010", strings.Replace(body, "100", "101", 1), "k1", 422},
		{"c010", body, "k2", 409},
	} {
		if code, got := visit(t, s, c.customer, "POST", "/refunds", c.body, key, c.key); code != c.want {
			t.Errorf("%s %s %s: %d %v, want %d", c.customer, c.body, c.key, code, got, c.want)
		}
	}
	if got := s.Stats(); got.Refunds != 1 || got.Repeated != 2 {
		t.Errorf("%+v", got)
	}
	if _, got := visit(t, s, "c010", "GET", "/refunds?order="+id, ""); got["refund"] != "requested" || got["amount"] != 100.0 || got["refundable"] != 0.0 {
		t.Errorf("progress %v", got)
	}
}

func TestTheShopIsSteeredOverItsControlPort(t *testing.T) {
	t.Parallel()
	s := newShop(t, time.Now())
	put := func(body string) int {
		w := httptest.NewRecorder()
		s.Control().ServeHTTP(w, httptest.NewRequest("PUT", "/sim/behaviour", strings.NewReader(body)))
		return w.Code
	}
	if code := put(`{"status":503}`); code != 200 {
		t.Fatal(code)
	}
	if code, _ := visit(t, s, "c002", "GET", "/orders?order=MH2611280012", ""); code != 503 {
		t.Errorf("answered %d", code)
	}
	for _, body := range []string{`{"status":200}`, `{"delay":"-1s"}`, `{"slow":1}`, `[]`} {
		if code := put(body); code != 400 {
			t.Errorf("%s: %d", body, code)
		}
	}
}
