package hook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Limits of one try.
const (
	timeout   = 15 * time.Second
	connect   = 5 * time.Second
	maxAnswer = 4 << 10 // bytes that are read of an answer; what it says does not matter
	perHost   = 8       // connections kept
)

// Config describes a sender.
type Config struct {
	Private func() bool // whether addresses that are not public may be called; required, read at each try
	// Dial replaces the network in tests; nothing is judged then. Nil: the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Sender makes single tries. It is safe for concurrent use.
type Sender struct {
	cfg     Config
	client  *http.Client
	private atomic.Bool // as it was when the connections that are kept were made
}

// NewSender returns a sender. It uses no proxy: that one would connect in our place.
func NewSender(cfg Config) (*Sender, error) {
	if cfg.Private == nil {
		return nil, errors.New("hook config: Private is nil")
	}
	s := &Sender{cfg: cfg}
	dial := cfg.Dial
	if dial == nil {
		d := &net.Dialer{Timeout: connect, Control: func(network, address string, c syscall.RawConn) error {
			if s.cfg.Private() {
				return nil
			}
			return guard(network, address, c)
		}}
		dial = d.DialContext
	}
	s.client = &http.Client{
		Timeout: timeout,
		Transport: &http.Transport{
			DialContext: dial, TLSHandshakeTimeout: connect, MaxIdleConnsPerHost: perHost, IdleConnTimeout: 30 * time.Second,
			DisableCompression: true, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// Close drops the connections that are kept.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Message is what is sent, in one try.
type Message struct {
	ID      string
	URL     string
	Body    []byte
	Secrets []string // whsec_…; each one signs
}

// Answer is what came of a try.
type Answer struct {
	Status     int           // 0: there was no answer
	RetryAfter time.Duration // that the receiver asks for; 0: it does not
	Fault      string        // why it was no success; without addresses, for operators
}

// Delivered reports whether the receiver has taken the message.
func (a Answer) Delivered() bool { return a.Status >= 200 && a.Status < 300 }

// Gone reports whether the receiver wants no message ever again.
func (a Answer) Gone() bool { return a.Status == http.StatusGone }

// Away reports whether the receiver as a whole takes nothing now.
func (a Answer) Away() bool {
	switch a.Status {
	case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Send makes one try at now, signed for it.
func (s *Sender) Send(ctx context.Context, m Message, now time.Time) Answer {
	req, err := s.request(ctx, m, now)
	if err != nil {
		return Answer{Fault: err.Error()}
	}
	a, _ := s.Do(req, now)
	return a
}

// Do makes one try of a request that has a form of its own. It returns up to 4 KiB of what
// was answered too.
func (s *Sender) Do(req *http.Request, now time.Time) (Answer, []byte) {
	if private := s.cfg.Private(); s.private.Swap(private) != private {
		s.client.CloseIdleConnections() // made under another rule
	}
	res, err := s.client.Do(req)
	if err != nil {
		return Answer{Fault: faultOf(err)}, nil
	}
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxAnswer)) // one that breaks off says what it said
	a := Answer{Status: res.StatusCode, RetryAfter: retryAfter(res.Header.Get("Retry-After"), now)}
	if !a.Delivered() {
		a.Fault = "answered " + strconv.Itoa(res.StatusCode)
	}
	return a, body
}

func (s *Sender) request(ctx context.Context, m Message, now time.Time) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return nil, errors.New("the URL cannot be read")
	}
	var signatures []string
	for _, secret := range m.Secrets {
		signer, err := standardwebhooks.NewWebhook(secret)
		if err != nil {
			return nil, errors.New("a secret cannot be read")
		}
		signature, err := signer.Sign(m.ID, now, m.Body)
		if err != nil {
			return nil, fmt.Errorf("sign: %w", err)
		}
		signatures = append(signatures, signature)
	}
	if len(signatures) == 0 {
		return nil, errors.New("there is no secret to sign with")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Sluice-Webhooks/1")
	req.Header.Set(standardwebhooks.HeaderWebhookID, m.ID)
	req.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	req.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	return req, nil
}

// faultOf says what went wrong without the URL, which may hold a secret of the receiver's.
func faultOf(err error) string {
	var dns *net.DNSError
	var timedOut interface{ Timeout() bool }
	switch {
	case errors.Is(err, ErrPrivate):
		return ErrPrivate.Error()
	case errors.As(err, &dns):
		return "its name cannot be looked up"
	case errors.As(err, &timedOut) && timedOut.Timeout():
		return "no answer in time"
	case errors.Is(err, context.Canceled):
		return "the try was cut short"
	}
	return "no connection, or one that broke"
}

// retryAfter reads the header: seconds, or an instant.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(max(0, min(seconds, 86_400))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(at.Sub(now), 24*time.Hour))
	}
	return 0
}
