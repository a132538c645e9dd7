package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// DefaultTextAddr is where sluice sim serves the carrier of text messages.
const DefaultTextAddr = "127.0.0.1:9112"

// Bounds of the carrier: messages that it remembers, and messages whose receipts are under
// way; of further ones there are none.
const (
	maxTexts    = 10_000
	maxReporter = 1000
)

// TextBehaviour is how the carrier behaves. The zero value takes every message at once and
// sends no receipts.
type TextBehaviour struct {
	Delay  time.Duration `json:"-"`      // before each answer, after the message was taken
	Status int           `json:"status"` // answered to a send in place of taking it; 0: none
	Code   string        `json:"code"`   // of the refusal: with Status for Twilio, alone for Aliyun
	// Lose has a message taken, and the connection reset in place of the answer.
	Lose bool `json:"lose"`
	// Blind has look-ups answered with 500.
	Blind bool `json:"blind"`
	// Receipts are sent one after the other for each message that is taken: in the words of
	// Twilio, in whatever order and as often as they stand here, unknown ones too. Each may
	// carry an error code after a colon, such as "undelivered:30003".
	Receipts []string      `json:"receipts"`
	Late     time.Duration `json:"-"` // before each receipt
}

// TextConfig describes a carrier.
type TextConfig struct {
	Account string // Twilio's Account SID, and Aliyun's AccessKey ID
	Token   string // what requests are signed with
	// Reports is where Aliyun's receipts go, with its secret; Twilio's go where each message says.
	Reports string
	Client  *http.Client // that sends receipts. Defaults to one with a time-out of 5 s.
}

// Text is a message that the carrier has taken.
type Text struct {
	ID     string    `json:"id"`
	Notice string    `json:"notice"` // OutId, or the notice in the callback's address
	To     string    `json:"to"`
	Body   string    `json:"body"` // or the template with its variables
	Status string    `json:"status"`
	Code   string    `json:"code,omitempty"`
	At     time.Time `json:"at"`

	callback string
}

// Carrier is an account at a Twilio-like and an Aliyun-like carrier of text messages, which
// checks signatures and signs its receipts. It is safe for concurrent use. Close ends it.
type Carrier struct {
	cfg    TextConfig
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	slots  chan struct{}

	mu        sync.Mutex // guards the rest
	behaviour TextBehaviour
	texts     []*Text
	taken     int
	unsigned  int // requests with a bad signature
	refused   int // receipts that were answered with anything but 200
}

// NewCarrier returns a carrier that takes everything.
func NewCarrier(cfg TextConfig) *Carrier {
	if cfg.Client == nil {
		cfg.Client = &http.Client{Timeout: 5 * time.Second}
	}
	c := &Carrier{cfg: cfg, slots: make(chan struct{}, maxReporter)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	return c
}

// Close ends the receipts under way and waits until they have.
func (c *Carrier) Close() {
	c.cancel()
	c.work.Wait()
	c.cfg.Client.CloseIdleConnections()
}

// Behave makes the carrier behave so from the next request on.
func (c *Carrier) Behave(b TextBehaviour) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.behaviour = b
}

// Texts returns what was taken, the oldest first.
func (c *Carrier) Texts() []Text {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := make([]Text, 0, len(c.texts))
	for _, t := range c.texts {
		all = append(all, *t)
	}
	return all
}

// Unsigned returns how many requests had a bad signature, and how many receipts were not
// taken in.
func (c *Carrier) Unsigned() (requests, receipts int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unsigned, c.refused
}

// Handler serves Twilio's interface below /twilio and Aliyun's below /aliyun.
func (c *Carrier) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /twilio/2010-04-01/Accounts/{account}/Messages.json", c.twilioSend)
	mux.HandleFunc("GET /twilio/2010-04-01/Accounts/{account}/Messages.json", c.twilioList)
	mux.HandleFunc("POST /aliyun/{$}", c.aliyun)
	return mux
}

// take takes a message and begins its receipts.
func (c *Carrier) take(t *Text, prefix string) *Text {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.taken++
	t.ID, t.At = fmt.Sprintf("%s%032d", prefix, c.taken), time.Now()
	c.texts = append(c.texts, t)
	c.texts = c.texts[max(0, len(c.texts)-maxTexts):]
	receipts, late := slices.Clone(c.behaviour.Receipts), c.behaviour.Late
	select {
	case c.slots <- struct{}{}:
	default:
		return t
	}
	c.work.Go(func() {
		defer func() { <-c.slots }()
		for _, receipt := range receipts {
			if !waited(c.ctx, late) {
				return
			}
			c.report(t, receipt)
		}
	})
	return t
}

// report changes a message's status and sends its receipt.
func (c *Carrier) report(t *Text, receipt string) {
	c.mu.Lock()
	t.Status, t.Code, _ = strings.Cut(receipt, ":")
	sent := *t
	c.mu.Unlock()
	req, err := c.receipt(&sent)
	if err != nil || req == nil {
		return // it wants none
	}
	resp, err := c.cfg.Client.Do(req)
	if err == nil {
		_ = resp.Body.Close()
	}
	if err != nil || resp.StatusCode != http.StatusOK {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refused++
	}
}

func (c *Carrier) receipt(t *Text) (*http.Request, error) {
	if strings.HasPrefix(t.ID, twilioPrefix) {
		return c.twilioReceipt(t)
	}
	return c.aliyunReceipt(t)
}

func (c *Carrier) behaviourNow() TextBehaviour {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.behaviour
}

func (c *Carrier) badSignature() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsigned++
}

// answer writes an answer after the delay, or loses it.
func answer(w http.ResponseWriter, r *http.Request, b TextBehaviour, status int, body any) {
	if !waited(r.Context(), b.Delay) {
		return
	}
	if b.Lose {
		reset(w)
		return
	}
	writeJSON(w, status, body)
}

// find returns the messages to a number, the newest first, at most n.
func (c *Carrier) find(to string, n int) []Text {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := []Text{}
	for _, t := range slices.Backward(c.texts) {
		if t.To == to && len(found) < n {
			found = append(found, *t)
		}
	}
	return found
}

// Control serves the carrier's control port: GET /sim/stats, and GET and PUT /sim/behaviour
// with {delay, status, code, lose, blind, receipts, late}. It has no authentication: serve
// it on loopback.
func (c *Carrier) Control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sim/stats", func(w http.ResponseWriter, _ *http.Request) {
		requests, receipts := c.Unsigned()
		writeJSON(w, http.StatusOK, map[string]any{"texts": c.Texts(), "unsigned": requests, "receipts_refused": receipts})
	})
	mux.HandleFunc("GET /sim/behaviour", func(w http.ResponseWriter, _ *http.Request) { c.writeBehaviour(w) })
	mux.HandleFunc("PUT /sim/behaviour", func(w http.ResponseWriter, r *http.Request) {
		var raw json.RawMessage
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxControlBody)).Decode(&raw); err != nil {
			writeProblem(w, http.StatusBadRequest, bad("", "must be a JSON object of at most %d bytes", maxControlBody))
			return
		}
		var b TextBehaviour
		err := decodeFields(raw, map[string]any{
			"delay": &b.Delay, "status": &b.Status, "code": &b.Code, "lose": &b.Lose, "blind": &b.Blind, "receipts": &b.Receipts, "late": &b.Late,
		})
		if err == nil && (b.Delay < 0 || b.Late < 0 || len(b.Receipts) > 100 || b.Status != 0 && (b.Status < 400 || b.Status > 599)) {
			err = bad("status", "must be from 400 to 599, delay and late not negative, and receipts at most 100")
		}
		if err != nil {
			writeProblem(w, http.StatusBadRequest, err)
			return
		}
		c.Behave(b)
		c.writeBehaviour(w)
	})
	return mux
}

func (c *Carrier) writeBehaviour(w http.ResponseWriter) {
	b := c.behaviourNow()
	writeJSON(w, http.StatusOK, map[string]any{
		"delay": b.Delay.String(), "status": b.Status, "code": b.Code, "lose": b.Lose, "blind": b.Blind, "receipts": b.Receipts, "late": b.Late.String(),
	})
}
