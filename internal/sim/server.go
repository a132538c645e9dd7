package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
)

// Server is a set of vendors on ports of their own, with one control port for all. It is
// made by Listen and safe for concurrent use.
type Server struct {
	vendors []*Vendor
	ports   [][]net.Listener // of each vendor, in the same order
	control net.Listener

	shop     *Shop // nil: none
	shopPort net.Listener

	carrier     *Carrier // nil: none
	carrierPort net.Listener
}

// Listen makes the vendors and binds their addresses, and the control port's unless
// controlAddr is empty. A connection waits until Run serves it. Who does not call Run
// must call Close.
//
// The control port steers all vendors at once below /sim/, with answers keyed by name,
// and each alone below /NAME/sim/: see Vendor.Control for the paths.
func Listen(ctx context.Context, controlAddr string, vendors []Config) (*Server, error) {
	s := &Server{}
	if err := s.listen(ctx, controlAddr, vendors); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Server) listen(ctx context.Context, controlAddr string, vendors []Config) error {
	var lc net.ListenConfig
	for _, cfg := range vendors {
		if s.Vendor(cfg.Name) != nil {
			return fmt.Errorf("name %q: two vendors have it", cfg.Name)
		}
		v, err := NewVendor(cfg)
		if err != nil {
			return err
		}
		s.vendors, s.ports = append(s.vendors, v), append(s.ports, nil)
		for _, addr := range append([]string{cfg.Addr}, cfg.More...) {
			if addr == "" {
				addr = "127.0.0.1:0"
			}
			port, err := lc.Listen(ctx, "tcp", addr)
			if err != nil {
				return fmt.Errorf("listen for simulated vendor %s on %s: %w", cfg.Name, addr, err)
			}
			s.ports[len(s.ports)-1] = append(s.ports[len(s.ports)-1], port)
		}
	}
	if controlAddr == "" {
		return nil
	}
	port, err := lc.Listen(ctx, "tcp", controlAddr)
	if err != nil {
		return fmt.Errorf("listen for simulator control on %s: %w", controlAddr, err)
	}
	s.control = port
	return nil
}

// Run serves until ctx ends or a listener fails, and returns when all it started has
// ended: nil after ctx ended. Calls in flight are cut. It may be called once.
func (s *Server) Run(ctx context.Context) error {
	sites := make([]site, 0, len(s.vendors)+1)
	for i, v := range s.vendors {
		for _, port := range s.ports[i] {
			sites = append(sites, site{v.Handler(), port})
		}
	}
	if s.shop != nil {
		sites = append(sites, site{s.shop.Handler(), s.shopPort})
	}
	if s.carrier != nil {
		sites = append(sites, site{s.carrier.Handler(), s.carrierPort})
		defer s.carrier.Close()
	}
	if s.control != nil {
		sites = append(sites, site{s.controls(), s.control})
	}
	return serveAll(ctx, sites)
}

func (s *Server) controls() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/sim/", control(s.vendors, false))
	for _, v := range s.vendors {
		mux.Handle("/"+v.Name()+"/sim/", http.StripPrefix("/"+v.Name(), v.Control()))
	}
	if s.shop != nil {
		mux.Handle("/shop/sim/", http.StripPrefix("/shop", s.shop.Control()))
	}
	if s.carrier != nil {
		mux.Handle("/text/sim/", http.StripPrefix("/text", s.carrier.Control()))
	}
	return mux
}

// Vendors returns the vendors in the order of their configuration.
func (s *Server) Vendors() []*Vendor { return append([]*Vendor(nil), s.vendors...) }

// Vendor returns the vendor of that name, or nil.
func (s *Server) Vendor(name string) *Vendor {
	for _, v := range s.vendors {
		if v.Name() == name {
			return v
		}
	}
	return nil
}

// URL returns the base URL of a vendor's API, such as "http://127.0.0.1:9101/v1", or ""
// for an unknown name.
func (s *Server) URL(name string) string {
	if urls := s.URLs(name); len(urls) > 0 {
		return urls[0]
	}
	return ""
}

// URLs returns the base URLs of a vendor's API, that of Config.Addr first.
func (s *Server) URLs(name string) []string {
	for i, v := range s.vendors {
		if v.Name() != name {
			continue
		}
		var urls []string
		for _, port := range s.ports[i] {
			urls = append(urls, "http://"+port.Addr().String()+"/v1")
		}
		return urls
	}
	return nil
}

// ControlURL returns the base URL of the control port, or "" when there is none.
func (s *Server) ControlURL() string {
	if s.control == nil {
		return ""
	}
	return "http://" + s.control.Addr().String()
}

// Close frees the ports of a server that does not run.
func (s *Server) Close() error {
	var errs []error
	for _, port := range slices.Concat(s.ports...) {
		errs = append(errs, port.Close())
	}
	for _, port := range []net.Listener{s.control, s.shopPort, s.carrierPort} {
		if port != nil {
			errs = append(errs, port.Close())
		}
	}
	return errors.Join(errs...)
}
