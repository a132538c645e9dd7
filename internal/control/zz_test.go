package control
import ("testing";"time";"sluice/internal/gate";"sluice/internal/queue/queuetest")
func TestZZ(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		in := gate.Intake{Tenants: map[string]gate.Allowance{"t": {Daily: 10}}}
		first := c.start("first", candidateOnly)
		time.Sleep(time.Second)
		far := c.start("far", role{})
		c.admit(in)
		t.Log(together(6, arrival("t", "", 3), far))
		t.Log(first.control.intake.turnstile.Today(time.Now()))
		first.stop()
		b, err := far.queue.IntakeDay(t.Context())
		t.Log(string(b), err)
		second := c.start("second", candidateOnly)
		c.admit(in)
		time.Sleep(time.Second)
		t.Log(second.control.intake.turnstile.Today(time.Now()))
		t.Log(together(2, arrival("t", "", 3), far, second))
		t.Log(second.control.intake.turnstile.Today(time.Now()))
		time.Sleep(2*time.Second)
		b, err = far.queue.IntakeDay(t.Context())
		t.Log(string(b), err)
	})
}
