package sim

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// AddShop adds a demo shop to a server that does not run yet, on an address of its own;
// below /shop/sim/ the control port then tells of it and steers it.
func (s *Server) AddShop(ctx context.Context, addr string) error {
	shop, err := NewShop(time.Now())
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	port, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for the demo shop on %s: %w", addr, err)
	}
	s.shop, s.shopPort = shop, port
	return nil
}

// Shop returns the demo shop, or nil.
func (s *Server) Shop() *Shop { return s.shop }

// ShopURL returns the base URL of the demo shop, or "" when there is none.
func (s *Server) ShopURL() string {
	if s.shopPort == nil {
		return ""
	}
	return "http://" + s.shopPort.Addr().String()
}

// Control serves the shop's control port: GET /sim/stats, and GET and PUT /sim/behaviour
// with {delay, status, lose}. It has no authentication: serve it on loopback.
func (s *Shop) Control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sim/stats", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.Stats()) })
	mux.HandleFunc("GET /sim/behaviour", func(w http.ResponseWriter, _ *http.Request) { s.writeBehaviour(w) })
	mux.HandleFunc("PUT /sim/behaviour", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxControlBody))
		if err != nil {
			writeProblem(w, http.StatusRequestEntityTooLarge, bad("", "the body must be at most %d bytes", maxControlBody))
			return
		}
		var b ShopBehaviour
		if err := decodeFields(body, map[string]any{"delay": &b.Delay, "status": &b.Status, "lose": &b.Lose}); err != nil {
			writeProblem(w, http.StatusBadRequest, err)
			return
		}
		if b.Delay < 0 || b.Status != 0 && (b.Status < 400 || b.Status > 599) {
			writeProblem(w, http.StatusBadRequest, bad("status", "must be from 400 to 599, and delay not negative"))
			return
		}
		s.Behave(b)
		s.writeBehaviour(w)
	})
	return mux
}

func (s *Shop) writeBehaviour(w http.ResponseWriter) {
	s.mu.Lock()
	b := s.behaviour
	s.mu.Unlock()
	writeJSON(w, http.StatusOK, map[string]any{"delay": b.Delay.String(), "status": b.Status, "lose": b.Lose})
}
