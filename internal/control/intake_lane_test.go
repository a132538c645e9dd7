package control

import (
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/gate"
	"sluice/internal/queue"
	"sluice/internal/queue/queuetest"
)

// fill accepts tickets into the lane normal, one session each.
func (p *peer) fill(n int) {
	p.t.Helper()
	for range n {
		_, _, err := p.queue.Accept(p.t.Context(), chat.Ticket{
			ID: chat.NewTicketID(), Tenant: "t", Session: chat.NewSessionID(), Lane: chat.Normal, Message: "hello",
			Language: chat.English, AcceptedAt: time.Now(), Deadline: time.Now().Add(time.Hour),
		}, queue.Claim{})
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

// finish ends so many tickets of the lane normal.
func (p *peer) finish(n int) {
	p.t.Helper()
	err := p.queue.Pull(p.t.Context(), chat.Normal, n, time.Millisecond, func(j *queue.Job) {
		s, err := p.queue.Admit(p.t.Context(), j)
		if err == nil {
			s, err = p.queue.Take(p.t.Context(), s, time.Now())
		}
		if err == nil {
			s.Answer(chat.Answer{Reply: chat.Reply{Text: "yes", Locale: "en"}, Route: chat.RouteAgent}, time.Now())
			_, err = p.queue.End(p.t.Context(), j, s)
		}
		if err != nil {
			p.t.Fatal(err)
		}
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func TestEveryNodeKnowsWhenAFullLaneHasAPlace(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		ruler, far := c.start("ruler", candidateOnly), c.start("far", role{})
		far.fill(10)
		room := func(when string, want time.Duration, known bool) {
			t.Helper()
			for _, p := range []*peer{ruler, far} {
				if got, ok := p.member.Room(chat.Normal); ok != known || got < want*9/10 || got > want*11/10 {
					t.Errorf("%s: %s expects a place in %s (%v), want %s", when, p.name, got, ok, want)
				}
			}
		}
		time.Sleep(10 * time.Second)
		room("before anything has left", 0, false)
		for range 80 {
			time.Sleep(500 * time.Millisecond)
			far.finish(1)
			far.fill(1)
		}
		room("at two a second", 500*time.Millisecond, true)
		for range 10 {
			time.Sleep(4 * time.Second)
			far.finish(1)
			far.fill(1)
		}
		room("at one in four seconds", 4*time.Second, true)
		time.Sleep(outflowFor + time.Second)
		room("when nothing leaves", 30*time.Second, true)
		ruler.kill()
		time.Sleep(stateAge + helloEvery)
		if _, ok := far.member.Room(chat.Normal); ok {
			t.Error("without a controller a place is expected")
		}
	})
}

func TestEveryNodeTakesLessIntoALaneThatFills(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		ruler, far := c.start("ruler", candidateOnly), c.start("far", role{})
		c.admit(gate.Intake{
			Tenant: gate.Allowance{QPS: 50, Burst: 5}, Tighten: gate.Tighten{At: 0.8, Until: 0.5, Factor: 0.4},
		})
		time.Sleep(5 * time.Second)
		urgent, other := arrival("t", "", 3), arrival("t", "", 3)
		urgent.Urgent, other.Lane = true, chat.Low
		second := func(a chat.Arrival) (in int) {
			for range 200 {
				for _, p := range []*peer{far, ruler} {
					if _, turned := p.enter(a); turned == nil {
						in++
					}
				}
				time.Sleep(5 * time.Millisecond)
			}
			return in
		}
		about := func(when string, got, want int) {
			t.Helper()
			if got < want-2 || got > want+6 {
				t.Errorf("%s: %d came in within a second, want some %d", when, got, want)
			}
		}
		far.fill(7)
		time.Sleep(lanesEvery)
		about("at 0.7", second(arrival("t", "", 3)), 50)
		far.fill(1)
		time.Sleep(lanesEvery)
		about("at 0.8", second(arrival("t", "", 3)), 20)
		about("at 0.8, urgent", second(urgent), 50)
		about("at 0.8, another lane", second(other), 50)
		far.finish(2)
		time.Sleep(lanesEvery)
		about("back at 0.6", second(arrival("t", "", 3)), 20)
		far.finish(1)
		time.Sleep(lanesEvery)
		about("at 0.5", second(arrival("t", "", 3)), 50)
	})
}
