package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"sluice/internal/chat"
	"sluice/internal/faq"
	"sluice/internal/password"
	"sluice/internal/pulse"
	"sluice/internal/queue"
	"sluice/internal/rules"
)

// Line tells where tickets stand. Places are counted from 1.
type Line interface {
	// Standing returns a waiting ticket's place and when it might begin; ok is false
	// for one that does not stand in the line (yet).
	Standing(ticket string) (position int, eta time.Duration, ok bool)
	// Behind returns the place that a new ticket of a lane would have.
	Behind(lane chat.Lane) (position int, eta time.Duration)
}

// History answers for what the engine keeps no more. An error that is
// queue.ErrNotFound says that it never was; any other, that history is away.
type History interface {
	// Ticket returns a chat.Ticket as JSON.
	Ticket(ctx context.Context, tenant, id string) (json.RawMessage, error)
	// Events returns a session's events with seq greater than after, in order.
	Events(ctx context.Context, tenant, session string, after uint64, limit int) ([]chat.Event, error)
	// TicketOf is Ticket for whosever it is.
	TicketOf(ctx context.Context, id string) (json.RawMessage, error)
	// Search returns the ended tickets that a filter takes, newest first, of those after a
	// mark, as JSON and at most limit of them.
	Search(ctx context.Context, f chat.TicketFilter, after chat.TicketMark, limit int) ([]json.RawMessage, error)
	// Marks is Search for the tickets' places alone.
	Marks(ctx context.Context, f chat.TicketFilter, after chat.TicketMark, limit int) ([]chat.TicketMark, error)
}

// Check asks one dependency for its state.
type Check struct {
	Name     string
	Required bool // without it no request can be accepted
	State    func(ctx context.Context) (state string, err error)
}

// Deps is what the stage works with. Read, History, Ratings, Lanes, Store, Vendors, Knowledge, FAQ,
// BatchEnded, Unfit, Trials, Texts, Board, Owed and Alerts may be nil, the rest may not.
type Deps struct {
	Queue    *queue.Queue
	Rules    func() *rules.Rules // the rules in force now
	Classify func(text string) (intent string, urgent bool)
	// Read tells what else a message says. Nil: only its language is known.
	Read    func(text, locale string) chat.Reading
	Line    Line
	History History
	Ratings Ratings          // nil: older ratings are not known, and none are listed
	Lanes   *queue.Lanes     // nil: every lane is open, and operators cannot steer them
	Store   *queue.RuleStore // nil: operators cannot see or change the rules
	Vendors Vendors          // nil: nothing is known of calls and breakers
	// Knowledge is what this process answers from. Nil: from no documents.
	Knowledge Knowledge
	// FAQ returns what answers in this process, nil: nothing does yet, and the revision of
	// the list that it was made of. Nil: this process learns no FAQ.
	FAQ func() (*faq.Base, uint64)
	// BatchEnded is told of each batch that has ended. It may be called again for one after
	// a crash: what it does must be done at most once by the batch's id. Nil: nobody is told.
	BatchEnded func(ctx context.Context, b queue.Batch) error
	// Unfit says which field of valid rules this deployment cannot put into force, and
	// why; an empty field: none. Nil: all rules fit.
	Unfit func(now, next *rules.Rules) (field, reason string)
	// Trials says, for the operator who asks, what the intents that next changes are confused
	// with. It must not block: what is not known yet is pending.
	Trials func(actor string, now, next *rules.Rules) []IntentTrial
	// Texts returns what requests of carriers are known by, for each anew. Nil: none is let in.
	Texts  func() TextKeys
	Checks []Check
	// Metrics is the page /metrics. Nil: there is none.
	Metrics http.Handler
	// Refused is told of each message that is turned away from a lane for load or a limit.
	// Nil: nobody is.
	Refused func(tenant string, lane chat.Lane, code string)
	// Board knows what all processes have counted of late. Nil: there are no charts.
	Board *pulse.Board
	// Owed counts the promises by how they stand, up to a minute ago. Nil: nobody does.
	Owed func(ctx context.Context) map[chat.PromiseStatus]int
	// Alerts knows what fires. Nil: nobody watches.
	Alerts Alerts
	Log    zerolog.Logger
}

// Config describes the HTTP side.
type Config struct {
	// PublicURL is where callers reach the server, for the API document. Defaults to
	// none: the document's own address.
	PublicURL string
	// DemoTenant is whose publishable key the demo page at / opens its sockets with.
	// Defaults to none: the page says so.
	DemoTenant string
	// Polls is the most long polls that wait at once. Defaults to 10,000.
	Polls int
	// Conns is the most connections at once, sockets included; further ones wait in the
	// kernel's backlog. Defaults to 25,000.
	Conns int
	// Stop is the longest that Run waits for answers under way once its context has
	// ended, and then once more for the sockets. Defaults to 5s.
	Stop    time.Duration
	Sockets SocketConfig
}

// Validate names the field that is wrong.
func (c Config) Validate() error {
	if c.PublicURL != "" {
		u, err := url.Parse(c.PublicURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return fmt.Errorf("api config: PublicURL must be an absolute http or https URL, is %q", c.PublicURL)
		}
	}
	if c.Polls < 0 || c.Conns < 0 || c.Stop < 0 {
		return errors.New("api config: Polls, Conns and Stop must not be negative")
	}
	return c.Sockets.Validate()
}

// API is the stage. Its handlers may be used as soon as New returns; what waits for
// news (long polls, sockets) hears some only while Run runs.
type API struct {
	deps    Deps
	cfg     Config
	intake  *Intake
	hub     *hub
	sockets *sockets
	batches *batches
	bulks   *bulks
	polls   chan struct{} // a token for each long poll that waits
	looks   chan struct{} // a token for each search that looks into the engine
	// stopping is closed when Run's context ends: whoever waits for news stops waiting.
	stopping chan struct{}
	leaving  atomic.Bool
	logins   *attempts
	streams  *streams
	// passwords computes the slow hashes of this process.
	passwords *password.Hasher
	origins   *http.CrossOriginProtection
	echo      *echo.Echo
}

// New builds the stage; it does no I/O.
func New(deps Deps, cfg Config) (*API, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if deps.Queue == nil || deps.Rules == nil || deps.Classify == nil || deps.Line == nil {
		return nil, errors.New("api: Queue, Rules, Classify and Line are required")
	}
	cfg.Polls, cfg.Conns, cfg.Stop = or(cfg.Polls, 10_000), or(cfg.Conns, 25_000), or(cfg.Stop, 5*time.Second)
	a := &API{
		deps: deps, cfg: cfg, intake: newIntake(deps), hub: newHub(deps.Queue),
		polls: make(chan struct{}, cfg.Polls), looks: make(chan struct{}, searchesAtOnce), stopping: make(chan struct{}), logins: newAttempts(),
		passwords: password.New(), origins: ownOrigins(cfg.PublicURL),
	}
	a.sockets = newSockets(socketDeps{
		queue: deps.Queue, intake: a.intake, hub: a.hub, line: deps.Line,
		limits: func() rules.Sockets { return deps.Rules().Sockets },
		log:    deps.Log.With().Str("stage", "api").Logger(),
	}, cfg.Sockets)
	a.batches, a.bulks = newBatches(deps, a.intake), newBulks(a)
	a.streams = newStreams(deps.Log, a.topics()...)
	var err error
	if a.echo, err = a.routes(); err != nil {
		return nil, err
	}
	return a, nil
}

// Sockets returns how many are open.
func (a *API) Sockets() int { return a.sockets.count() }

// Handler returns everything that the stage serves over TCP.
func (a *API) Handler() http.Handler { return a.echo }

// Leave lets /readyz answer 503 draining from now on; everything goes on being served.
func (a *API) Leave() { a.leaving.Store(true) }

// Drain refuses new messages from now on with 503 draining. Reads, long polls and
// sockets go on.
func (a *API) Drain() { a.intake.draining.Store(true) }
