package control

import (
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
	"sluice/internal/valve"
)

// easily is a valve that opens early.
var easily = valve.Config{
	Levels: [valve.Top]valve.Threshold{
		{Depth: 0.3, Errors: 0.2, Wait: 3 * time.Second}, {Depth: 0.5, Errors: 0.4, Wait: 6 * time.Second}, {Depth: 0.9, Errors: 0.8, Wait: 9 * time.Second},
	},
	Window: time.Minute, MinCalls: 5, Hold: 10 * time.Second,
}

// lives starts a controller with its valve, and returns when it grants.
func lives(t *testing.T, q *queue.Queue, cfg valve.Config) (c *single, stop func()) {
	t.Helper()
	c = newController(t, q, 1)
	c.control.SetValve(cfg)
	stop = start(t, c)
	<-c.Ready()
	return c, stop
}

// level waits until a lane feels a level, and returns when that was.
func level(t *testing.T, c *single, lane chat.Lane, want int, within time.Duration) time.Time {
	t.Helper()
	for end := time.Now().Add(within); ; {
		got, changed := c.Level(lane)
		if got == want {
			return time.Now()
		}
		select {
		case <-changed:
		case <-time.After(time.Until(end)):
			t.Fatalf("level of %s is %d after %s, want %d", lane, got, within, want)
		}
	}
}

func TestADeepLaneRaisesTheLevelAndTheHoldLowersIt(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		q, closeQueue := openQueue(t)
		defer closeQueue()
		c, stop := lives(t, q, easily)
		defer stop()
		var accepted []chat.Ticket
		for range 5 { // of 10
			now := time.Now()
			one, _, err := q.Accept(t.Context(), chat.Ticket{
				ID: chat.NewTicketID(), Tenant: "demo", Session: chat.NewSessionID(), Lane: chat.Normal, Message: "hello",
				AcceptedAt: now, Deadline: now.Add(time.Hour),
			}, queue.Claim{})
			if err != nil {
				t.Fatal(err)
			}
			accepted = append(accepted, one)
		}
		level(t, c, chat.Normal, 2, 400*time.Millisecond)
		level(t, c, chat.Low, 2, 0)
		level(t, c, chat.High, 0, 0)
		for _, one := range accepted {
			if _, err := q.Cancel(t.Context(), one.ID, chat.ReasonCustomer, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		level(t, c, chat.Normal, 1, 10500*time.Millisecond)
		fell := time.Now()
		if took := level(t, c, chat.Normal, 0, 11*time.Second).Sub(fell); took < 10*time.Second || took > 10*time.Second+tickEvery {
			t.Errorf("the second step came after %s", took)
		}
		time.Sleep(time.Second)
		changes, err := c.Changes(t.Context())
		if err != nil || len(changes) != 6 {
			t.Errorf("changes %v (%v)", changes, err)
		}
	})
}

func TestAWaitRaisesTheLevelOfItsLaneAndThoseBelow(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		q, closeQueue := openQueue(t)
		defer closeQueue()
		c, stop := lives(t, q, easily)
		defer stop()
		ask := gate.Ask{Tenant: "demo", Session: "s1", Ticket: "t1", Lane: chat.Normal, AcceptedAt: time.Now(), Vendors: []string{"a"}}
		held, err := c.Ask(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		ask.Session, ask.Ticket, ask.AcceptedAt = "s2", "t2", begun
		waited := make(chan gate.Permit)
		go func() {
			p, err := c.Ask(t.Context(), ask)
			if err != nil {
				t.Error(err)
			}
			waited <- p
		}()
		for want, after := range []time.Duration{1: 3 * time.Second, 2: 6 * time.Second, 3: 9 * time.Second} {
			if want == 0 {
				continue
			}
			at := level(t, c, chat.Low, want, 4*time.Second)
			if late := at.Sub(begun) - after; late < 0 || late > 2*waitsEvery {
				t.Errorf("level %d came %s late", want, late)
			}
		}
		level(t, c, chat.High, 0, 0)
		c.Release(held, 0)
		c.Release(<-waited, 0)
	})
}

// TestLevelsOutliveTheController stops a controller at level 3 and starts another.
func TestLevelsOutliveTheController(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		q, closeQueue := openQueue(t)
		defer closeQueue()
		c, stop := lives(t, q, easily)
		for i := range 5 {
			p, err := c.Ask(t.Context(), gate.Ask{Tenant: "demo", Session: "s", Ticket: string(rune('a' + i)), Lane: chat.High, Vendors: []string{"a"}})
			if err != nil {
				t.Fatal(err)
			}
			c.End(p, gate.End{Outcome: gate.Failed})
			c.Release(p, 0)
			c.EndTurn("demo", "s", string(rune('a'+i)))
		}
		level(t, c, chat.High, 3, time.Second)
		time.Sleep(2 * lastingEvery)
		stop()
		next, stop := lives(t, q, easily)
		defer stop()
		at := level(t, next, chat.High, 3, time.Second)
		if fell := level(t, next, chat.High, 2, 11*time.Second).Sub(at); fell < 9*time.Second {
			t.Errorf("fell after %s", fell)
		}
	})
}

func TestAForcedLevelEndsByItself(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		q, closeQueue := openQueue(t)
		defer closeQueue()
		forced := easily
		forced.Force = &valve.Force{Level: 2, Until: time.Now().Add(5 * time.Second)}
		c, stop := lives(t, q, forced)
		defer stop()
		level(t, c, chat.High, 2, time.Second)
		if at := level(t, c, chat.High, 0, 6*time.Second); at.Before(forced.Force.Until) || at.Sub(forced.Force.Until) > tickEvery {
			t.Errorf("ended %s after its time", at.Sub(forced.Force.Until))
		}
	})
}
