package load

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"sluice/internal/chat"
)

//go:embed questions.txt
var questions string

const (
	ownSession  = 0.8 // share of the tickets that open a session of their own
	shareOf     = 4   // about so many of the others meet in one session
	firstOrder  = 100_000
	longestStay = 2 * time.Second // before a cancel
)

// state is how far a job has come.
type state int

const (
	unsent   state = iota // not handed in, or nobody knows
	refused               // answered with an error
	accepted              // has a ticket that has not ended as far as we know
	ended
	gone // the ticket is not found any more
)

// job is one message and what became of it. One goroutine owns it at a time: the submitter,
// then whichever collector took it from the queue, then a verifier.
type job struct {
	n           int
	tenant      int
	session     string // empty: the instance opens one
	lane        chat.Lane
	text        string
	customer    string
	key         string        // Idempotency-Key: a repeat after a broken connection makes no second ticket
	due         time.Duration // after the start
	cancelAfter time.Duration // 0: never, or already tried

	state    state
	code     string // why it was refused
	bare     bool   // refused for load without Retry-After
	took     time.Duration
	ticket   ticket // as last read
	tooLate  bool   // the cancel came after the end, or after an effect was claimed
	changed  bool   // the end changed between two reads
	unread   bool   // the end could not be read a second time
	lastFail string // of the newest read that went wrong
}

// planBurst draws the jobs of a burst. The same config gives the same jobs; only run, which
// names sessions and keys, differs.
func planBurst(cfg BurstConfig, tenants int, run string) []*job {
	rng := rand.New(rand.NewPCG(cfg.Seed, 0x51_75_1c_e0))
	asked := cfg.Questions
	if len(asked) == 0 {
		asked = strings.Split(strings.TrimSpace(questions), "\n")
	}
	jobs := make([]*job, cfg.Tickets)
	for i := range jobs {
		j := &job{n: i, tenant: i % tenants, lane: drawLane(rng, cfg.Lanes), key: fmt.Sprintf("load-%s-%d", run, i)}
		order := fmt.Sprint(firstOrder + i)
		if n := len(cfg.Orders); n > 0 {
			order = cfg.Orders[i%n]
		}
		j.text, j.customer = question(asked[rng.IntN(len(asked))], order), cfg.Customer
		j.session = drawSession(rng, cfg, j, tenants, run)
		j.due = time.Duration(float64(cfg.Over) * float64(i) / float64(len(jobs)))
		if rng.Float64() < cfg.CancelShare {
			j.cancelAfter = time.Millisecond + time.Duration(rng.Int64N(int64(longestStay)))
		}
		jobs[i] = j
	}
	return jobs
}

func drawLane(rng *rand.Rand, mix map[chat.Lane]float64) chat.Lane {
	sum := 0.0
	for _, lane := range chat.Lanes() {
		sum += mix[lane]
	}
	at := rng.Float64() * sum
	last := chat.Normal
	for _, lane := range chat.Lanes() {
		if mix[lane] <= 0 {
			continue
		}
		if last = lane; at < mix[lane] {
			break
		}
		at -= mix[lane]
	}
	return last
}

func drawSession(rng *rand.Rand, cfg BurstConfig, j *job, tenants int, run string) string {
	own, spread := rng.Float64() < ownSession, cfg.Sessions
	if spread == 0 {
		if own {
			return ""
		}
		spread = int(float64(cfg.Tickets/tenants) * (1 - ownSession) / shareOf)
	}
	return fmt.Sprintf("load-%s-%d-%d", run, j.tenant, rng.IntN(max(spread, 1)))
}

// question makes a message about an order. No other ticket of the run has it, unless orders
// repeat.
func question(text, order string) string {
	if chat.Language(text, "") == chat.Chinese {
		return fmt.Sprintf("%s订单号 %s。", text, order)
	}
	return fmt.Sprintf("%s It is order %s.", text, order)
}
