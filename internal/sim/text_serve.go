package sim

import (
	"context"
	"fmt"
	"net"
)

// AddCarrier adds a carrier of text messages to a server that does not run yet, on an
// address of its own; below /text/sim/ the control port then tells of it and steers it.
func (s *Server) AddCarrier(ctx context.Context, addr string, cfg TextConfig) error {
	var lc net.ListenConfig
	port, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return fmt.Errorf("listen for the simulated carrier on %s: %w", addr, err)
	}
	s.carrier, s.carrierPort = NewCarrier(cfg), port
	s.carrier.Behave(TextBehaviour{Receipts: []string{"sent", "delivered"}})
	return nil
}

// CarrierURL returns the base URL of the carrier, or "" when there is none: Twilio's
// interface is below /twilio, Aliyun's below /aliyun.
func (s *Server) CarrierURL() string {
	if s.carrierPort == nil {
		return ""
	}
	return "http://" + s.carrierPort.Addr().String()
}
