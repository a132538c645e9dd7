package drill

import (
	"context"
	"time"

	"sluice/internal/load"
)

// When nodes of the NATS cluster are killed, how long each is away and how long all are
// there before the next one goes, and after the last. The cluster's own elections are not
// scaled.
const (
	nodesFrom   = 4 * time.Second
	nodeAway    = 4 * time.Second
	nodesWhole  = 8 * time.Second
	nodesAtLast = 12 * time.Second

	// electedFor is how long the nodes that are left may need for new leaders: an election
	// takes 4 to 9 s. Without a leader nothing is durable, and so nothing is accepted.
	electedFor = 10 * time.Second
)

// natsNode kills nodes of a cluster of three, one after the other.
func natsNode(ctx context.Context, d *drill) error {
	c, err := d.startCluster(ctx, 3, 2)
	if err != nil {
		return err
	}
	kills := 2
	if !d.cfg.Quick {
		kills = 6
	}
	d.begin("three nodes")
	last := nodesFrom + time.Duration(kills-1)*(nodeAway+nodesWhole)
	chat, err := d.load(ctx, target(c.api.base, c.tenants), d.chatFor(last+nodeAway+nodesAtLast))
	if err != nil {
		return err
	}
	killed, err := c.killInTurn(ctx, kills)
	if err != nil {
		return err
	}
	p := wait(chat)
	d.keeps(promise{late: redelivered(killed), byQuota: []string{"a", "b", "c"}}, p)
	d.none("refused for load without Retry-After", p.report.BareRefused)
	d.atMost("longest time without an accepted message", electedFor, longestGap(p.all))
	d.share("of the accepted ones answered by a vendor", 0.8, answered(p.all), p.report.Accepted)
	taken, late := 0, 0
	for _, o := range p.all {
		if o.Due > last+electedFor {
			late++
			if o.Ticket != "" {
				taken++
			}
		}
	}
	d.share("taken in at the end, with all nodes there", 1, taken, late)
	d.shows(p)
	return nil
}

// killInTurn kills one node after the other with kill -9, starts each again, and returns
// when they were killed.
func (c *cluster) killInTurn(ctx context.Context, kills int) (killed []time.Time, err error) {
	for k := range kills {
		i := k % len(c.nodes)
		begin := nodesFrom + time.Duration(k)*(nodeAway+nodesWhole)
		at, err := c.d.at(ctx, begin, c.nodes[i].Name+" is killed")
		if err != nil {
			return nil, err
		}
		killed = append(killed, at)
		c.brokers[i].kill()
		if _, err := c.d.at(ctx, begin+nodeAway, c.nodes[i].Name+" comes back"); err != nil {
			return nil, err
		}
		if err := c.startBroker(i); err != nil {
			return nil, err
		}
	}
	return killed, nil
}

// redelivered gives more time to a message that was on its way when a node died, or came
// before there was a new leader: its job is delivered again after the lanes' time.
func redelivered(killed []time.Time) func(load.Outcome) time.Duration {
	return func(o load.Outcome) time.Duration {
		for _, at := range killed {
			if o.AcceptedAt.Before(at.Add(electedFor)) && o.EndedAt.After(at) {
				return jobsBack
			}
		}
		return 0
	}
}

// longestGap is the longest time between two accepted messages.
func longestGap(all []load.Outcome) (most time.Duration) {
	var last time.Time
	for _, o := range all {
		if o.Ticket == "" {
			continue
		}
		if !last.IsZero() {
			most = max(most, o.AcceptedAt.Sub(last))
		}
		last = maxTime(last, o.AcceptedAt)
	}
	return most
}
