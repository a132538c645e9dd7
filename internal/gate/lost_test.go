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
