package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// DefaultShopAddr is where the tools of the shipped rules look for the demo shop.
const DefaultShopAddr = "127.0.0.1:9111"

// ShopBehaviour is how the shop behaves. The zero value answers at once, and well.
type ShopBehaviour struct {
	Delay  time.Duration // before each answer, and before anything is done
	Status int           // answered instead of anything being done; 0: none
	// Lose has everything done as asked, and the connection reset in place of the answer.
	Lose bool
}

// ShopStats counts what the shop did.
type ShopStats struct {
	Calls       int `json:"calls"`
	InFlight    int `json:"in_flight"`
	MaxInFlight int `json:"max_in_flight"`
	Foreign     int `json:"foreign"`  // calls for an order that is not the customer's
	Refunds     int `json:"refunds"`  // that were taken in
	Repeated    int `json:"repeated"` // requests with a key that was known
	Handoffs    int `json:"handoffs"`
}

// Shop is a demo shop with orders, as a shop's own systems offer them to a customer
// service: whom a call is for stands in a header that only the service can set. It is
// safe for concurrent use.
type Shop struct {
	mu        sync.Mutex // guards all
	orders    map[string]*order
	refunds   map[string]made // by idempotency key
	behaviour ShopBehaviour
	stats     ShopStats
}

// order is one order of the demo data.
type order struct {
	id       string
	customer string
	state    string
	paid     float64
	fields   map[string]any
}

// made is an answer that is given again for the same key.
type made struct {
	body   shopRefund
	answer map[string]any
}

// shopRefund is the body of a refund request.
type shopRefund struct {
	Order  string  `json:"order"`
	Amount float64 `json:"amount"`
	Reason string  `json:"reason"`
}

// NewShop returns a shop whose orders stand as if the demo data had been taken at now.
func NewShop(now time.Time) (*Shop, error) {
	orders, err := loadOrders(now)
	if err != nil {
		return nil, fmt.Errorf("load the demo shop: %w", err)
	}
	return &Shop{orders: orders, refunds: map[string]made{}}, nil
}

// Handler serves the shop:
//
//	GET  /orders?order=ID     the order
//	GET  /logistics?order=ID  its delivery
//	GET  /refunds?order=ID    its refund, and what may still be refunded
//	POST /refunds             {order, amount, reason} with Idempotency-Key: requests one
//	POST /handoff             {summary}: calls a person
//
// X-Customer-Id names the customer, Accept-Language the language of texts.
func (s *Shop) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /orders", s.about(s.order))
	mux.HandleFunc("GET /logistics", s.about(s.logistics))
	mux.HandleFunc("GET /refunds", s.about(s.progress))
	mux.HandleFunc("POST /refunds", s.refund)
	mux.HandleFunc("POST /handoff", s.handoff)
	return s.metered(mux)
}

// Behave makes the shop behave so from the next call on.
func (s *Shop) Behave(b ShopBehaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaviour = b
}

// Stats returns the counts of this moment.
func (s *Shop) Stats() ShopStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// Own returns an order of a customer in one of states, or "".
func (s *Shop) Own(customer string, states ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []string
	for id, o := range s.orders {
		if o.customer == customer && (len(states) == 0 || slices.Contains(states, o.state)) {
			found = append(found, id)
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.Min(found)
}

// metered counts calls and applies the behaviour.
func (s *Shop) metered(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		b := s.behaviour
		s.stats.Calls++
		s.stats.InFlight++
		s.stats.MaxInFlight = max(s.stats.MaxInFlight, s.stats.InFlight)
		s.mu.Unlock()
		defer func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.stats.InFlight--
		}()
		// Read to its end: only then does the server notice that a client leaves.
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxControlBody))
		if err != nil {
			writeShop(w, http.StatusRequestEntityTooLarge, map[string]any{"error": "the body is too long"})
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !waited(r.Context(), b.Delay) {
			return
		}
		switch {
		case b.Status != 0:
			writeShop(w, b.Status, map[string]any{"error": "simulated failure"})
		case b.Lose:
			next.ServeHTTP(discard{http.Header{}}, r)
			reset(w)
		default:
			next.ServeHTTP(w, r)
		}
	}
}

// waited waits and reports whether the client is still there.
func waited(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// discard is where answers go that are lost.
type discard struct{ header http.Header }

func (d discard) Header() http.Header         { return d.header }
func (d discard) Write(p []byte) (int, error) { return len(p), nil }
func (d discard) WriteHeader(int)             {}

// about serves a question about one order of the customer.
func (s *Shop) about(answer func(*order, string) map[string]any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		lang := shopLanguage(r)
		o := s.own(r, r.URL.Query().Get("order"))
		if o == nil {
			writeShop(w, http.StatusNotFound, missing(lang))
			return
		}
		writeShop(w, http.StatusOK, answer(o, lang))
	}
}

// own returns the order if it is the customer's; nobody learns whether another one exists.
func (s *Shop) own(r *http.Request, id string) *order {
	o := s.orders[strings.ToUpper(strings.TrimSpace(id))]
	customer, err := url.PathUnescape(r.Header.Get("X-Customer-Id"))
	if o == nil || err != nil {
		return nil
	}
	if customer == "" || o.customer != customer {
		s.stats.Foreign++
		return nil
	}
	return o
}

func missing(lang string) map[string]any {
	return says(lang, "没有找到这位客户的这个订单", "this customer has no such order")
}

func says(lang, zh, en string) map[string]any {
	if lang == chinese {
		return map[string]any{"error": zh}
	}
	return map[string]any{"error": en}
}

func shopLanguage(r *http.Request) string {
	if strings.HasPrefix(strings.ToLower(r.Header.Get("Accept-Language")), chinese) {
		return chinese
	}
	return english
}

// refund takes a request in, once for each key.
func (s *Shop) refund(w http.ResponseWriter, r *http.Request) {
	var body shopRefund
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		writeShop(w, http.StatusBadRequest, map[string]any{"error": "the body must be a refund request in JSON"})
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	lang, key := shopLanguage(r), r.Header.Get("Idempotency-Key")
	if key == "" {
		writeShop(w, http.StatusBadRequest, map[string]any{"error": "Idempotency-Key must be set"})
		return
	}
	o := s.own(r, body.Order)
	if o == nil {
		writeShop(w, http.StatusNotFound, missing(lang))
		return
	}
	if before, known := s.refunds[key]; known {
		s.stats.Repeated++
		if before.body != body {
			writeShop(w, http.StatusUnprocessableEntity, map[string]any{"error": "the key was used for another request"})
			return
		}
		writeShop(w, http.StatusCreated, before.answer)
		return
	}
	left := o.refundable()
	switch {
	case left <= 0:
		writeShop(w, http.StatusConflict, says(lang, "这个订单不能再退款：已有退款，或没有付款", "nothing of this order can be refunded: a refund is there already, or it was not paid"))
		return
	case body.Amount <= 0 || body.Amount > left+0.005:
		writeShop(w, http.StatusUnprocessableEntity, says(lang, fmt.Sprintf("最多可退 %.2f 元", left), fmt.Sprintf("at most CNY %.2f can be refunded", left)))
		return
	}
	s.stats.Refunds++
	id := fmt.Sprintf("RF%s%04d", time.Now().Format("060102"), 9000+s.stats.Refunds)
	o.fields["refund"] = map[string]any{
		"id": id, "state": "requested", "amount": body.Amount, "requested_at": time.Now().Format(time.RFC3339),
	}
	answer := map[string]any{"refund_id": id, "order": o.id, "amount": body.Amount, "state": "requested"}
	s.refunds[key] = made{body, answer}
	writeShop(w, http.StatusCreated, answer)
}

// refundable is how much of an order may still be refunded.
func (o *order) refundable() float64 {
	if o.fields["refund"] != nil || o.state == "cancelled" || o.state == "refunded" {
		return 0
	}
	return math.Round(o.paid*100) / 100
}

func (s *Shop) handoff(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Handoffs++
	writeShop(w, http.StatusCreated, map[string]any{"handoff": "waiting", "number": fmt.Sprintf("H%05d", s.stats.Handoffs)})
}

func writeShop(w http.ResponseWriter, status int, body map[string]any) { writeJSON(w, status, body) }
