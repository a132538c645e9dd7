package gate

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tmc/langchaingo/llms"
)

// hanging is a vendor that answers only when its caller goes away.
type hanging struct{}

func (hanging) GenerateContent(ctx context.Context, _ []llms.MessageContent, _ ...llms.CallOption) (*llms.ContentResponse, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (h hanging) Call(ctx context.Context, _ string, _ ...llms.CallOption) (string, error) {
	_, err := h.GenerateContent(ctx, nil)
	return "", err
}

// released notes what comes back.
type released struct {
	ids   []uint64
	after time.Duration
}

func (*released) Ask(context.Context, Ask) (Permit, error) { return Permit{}, errors.New("not asked") }

func (*released) End(Permit, End) bool { return true }

func (r *released) Release(p Permit, after time.Duration) {
	r.ids, r.after = append(r.ids, p.ID), after
}

func TestLostPermitEndsTheCallAndGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, err := NewModel(map[string]Backend{"a": {Model: hanging{}, ReleaseAfter: 250 * time.Millisecond}})
		if err != nil {
			t.Fatal(err)
		}
		lost, r := make(chan struct{}), &released{}
		time.AfterFunc(4*time.Second, func() { close(lost) })
		begun := time.Now()
		ctx := WithCaller(t.Context(), NewCaller(r, Ask{}, Permit{ID: 7, Vendor: "a", Lost: lost}))
		if _, err := m.GenerateContent(ctx, nil); !errors.Is(err, ErrPermitLost) {
			t.Errorf("error = %v, want ErrPermitLost", err)
		}
		if took := time.Since(begun); took != 4*time.Second {
			t.Errorf("the call ended after %s, want 4s", took)
		}
		if len(r.ids) != 1 || r.ids[0] != 7 || r.after != 250*time.Millisecond {
			t.Errorf("released %v after %s, want permit 7 once after 250ms", r.ids, r.after)
		}
	})
}

// parted is a granter that no controller has heard for too long.
type parted struct{ released }

func (*parted) End(Permit, End) bool { return false }

func TestAFailureOfALostPermitIsNotTheVendors(t *testing.T) {
	t.Parallel()
	broken := errors.New("timeout after a pause")
	v := vendor(func(context.Context) (*llms.ContentResponse, error) { return nil, broken })
	m, err := NewModel(map[string]Backend{"a": {Model: v, Attempts: 3, Watch: func(ctx context.Context) (context.Context, func(*llms.ContentResponse, error) Verdict) {
		return ctx, func(*llms.ContentResponse, error) Verdict { return Verdict{Again: Anywhere} }
	}}})
	if err != nil {
		t.Fatal(err)
	}
	p := &parted{}
	ctx := WithCaller(t.Context(), NewCaller(p, Ask{Vendors: []string{"a"}}, Permit{ID: 7, Vendor: "a"}))
	if _, err := m.GenerateContent(ctx, nil); !errors.Is(err, ErrPermitLost) || errors.Is(err, broken) {
		t.Errorf("error = %v, want ErrPermitLost alone", err)
	}
	if len(p.ids) != 1 {
		t.Errorf("given back %v, want permit 7 once", p.ids)
	}
}
