package control

import (
	"testing"
	"time"

	"sluice/internal/queue/queuetest"
)

// each requires a number of live nodes, as every given one sees it.
func (c *cluster) each(want int, when string, nodes ...*peer) {
	c.t.Helper()
	for _, p := range nodes {
		if got := p.member.Live(); got != want {
			c.t.Errorf("%s: %s sees %d live nodes, want %d", when, p.name, got, want)
		}
	}
}

func TestEveryNodeKnowsHowManyHoldJobs(t *testing.T) {
	queuetest.Bubble(t, func(t *testing.T) {
		c := newCluster(t)
		defer c.close()
		one := c.start("one", holderOnly)
		c.each(1, "without a controller", one)
		ruler := c.start("ruler", candidateOnly)
		two, three := c.start("two", holderOnly), c.start("three", holderOnly)
		time.Sleep(2 * time.Second)
		// Also in the moments in which a node that waits for nothing is suspended.
		for range 60 {
			c.each(3, "at rest", ruler, one, two, three)
			time.Sleep(50 * time.Millisecond)
		}
		three.stop()
		time.Sleep(helloEvery + tickEvery)
		c.each(2, "after an orderly stop", ruler, one, two)
		two.kill()
		time.Sleep(silentAfter + helloEvery)
		c.each(1, "after a death", ruler, one)
		four := c.start("four", holderOnly)
		time.Sleep(time.Second)
		c.each(2, "after another came", ruler, one, four)
		ruler.kill()
		time.Sleep(stateAge + helloEvery)
		c.each(1, "without a controller again", one, four)
	})
}
