package drill

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"sluice/internal/sim"
)

// vendor is a simulated vendor with a log of its calls.
type vendor struct {
	account
	sim    *sim.Vendor
	log    *callLog
	url    string
	door   *door
	server *http.Server
}

// vendors are the simulated vendors of a drill, in this process: they outlive whatever is
// killed.
type vendors struct {
	all     []*vendor
	serving sync.WaitGroup
}

// startVendors serves a vendor for each account, on any port. stop must follow.
func startVendors(ctx context.Context, of []account, seed uint64) (*vendors, error) {
	vs := &vendors{}
	for i, a := range of {
		v, err := sim.NewVendor(sim.Config{Name: a.name, Quota: a.quota, Behaviour: healthy(), Seed: seed + uint64(i)})
		if err == nil {
			err = vs.serve(ctx, &vendor{account: a, sim: v, log: &callLog{}})
		}
		if err != nil {
			vs.stop()
			return nil, fmt.Errorf("simulated vendor %s: %w", a.name, err)
		}
	}
	return vs, nil
}

func (vs *vendors) serve(ctx context.Context, v *vendor) error {
	var err error
	if v.door, err = openDoor(ctx); err != nil {
		return err
	}
	v.url = "http://" + v.door.Addr().String() + "/v1"
	v.server = &http.Server{Handler: v.log.noted(v.sim.Handler()), ReadHeaderTimeout: 10 * time.Second}
	vs.all = append(vs.all, v)
	vs.serving.Go(func() {
		if err := v.server.Serve(v.door); !errors.Is(err, http.ErrServerClosed) {
			// A port that is lost shows as calls that fail, which the drill counts.
			_ = v.door.Close()
		}
	})
	return nil
}

// stop cuts what runs.
func (vs *vendors) stop() {
	for _, v := range vs.all {
		_ = v.server.Close() // errors of closing what is given up
	}
	vs.serving.Wait()
}

// named returns the vendor of a name.
func (vs *vendors) named(name string) *vendor {
	for _, v := range vs.all {
		if v.name == name {
			return v
		}
	}
	return nil
}

// behave makes the vendor behave so from the next call on.
func (v *vendor) behave(b sim.Behaviour) error {
	if err := v.sim.SetBehaviour(b); err != nil {
		return fmt.Errorf("vendor %s: behaviour: %w", v.name, err)
	}
	return nil
}

// between returns the calls that came from one instant up to another.
func (v *vendor) between(from, to time.Time) (calls []call) {
	for _, c := range v.log.all() {
		if !c.at.Before(from) && c.at.Before(to) {
			calls = append(calls, c)
		}
	}
	return calls
}
