package pulse

import (
	"context"
	"time"

	"github.com/rs/zerolog"
)

// beatEvery is how often a process tells what it has counted.
const beatEvery = 2 * time.Second

// Sender sends the beat of a process to all boards.
type Sender interface {
	SendPulse(node string, body []byte) error
}

// Beater tells what its process has counted.
type Beater struct {
	node    string
	tally   *Tally
	sockets func() int
	to      Sender
	log     zerolog.Logger
}

// NewBeater returns the beater of a process, which is told apart by node. sockets returns
// how many it has; nil: none.
func NewBeater(node string, tally *Tally, sockets func() int, to Sender, log zerolog.Logger) *Beater {
	if sockets == nil {
		sockets = func() int { return 0 }
	}
	return &Beater{node: node, tally: tally, sockets: sockets, to: to, log: log.With().Str("stage", "pulse").Logger()}
}

// Run tells at once, every 2 s, and a last time when ctx has ended. It may be called once.
func (b *Beater) Run(ctx context.Context) error {
	ticker := time.NewTicker(beatEvery)
	defer ticker.Stop()
	for n := uint64(1); ; n++ {
		b.beat(n)
		if ctx.Err() != nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

// beat tells once. What is lost comes with the next.
func (b *Beater) beat(n uint64) {
	total, age := b.tally.read(time.Now())
	body, err := encode(Beat{Node: b.node, N: n, Age: age, Sockets: b.sockets(), Total: total})
	if err == nil {
		err = b.to.SendPulse(b.node, body)
	}
	if err != nil {
		b.log.Debug().Err(err).Msg("pulse was not sent")
	}
}
