package sms

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/chat"
)

// DefaultTwilio is where Twilio's interface is.
const DefaultTwilio = "https://api.twilio.com"

// TwilioConfig describes an account at Twilio.
type TwilioConfig struct {
	Account string // Account SID
	Token   string // auth token
	// From is who sends: a number in E.164, a short code, or the SID of a messaging service (MG…).
	From string
	// Base is where the interface is. Defaults to DefaultTwilio.
	Base string
	// Link is where answers are read; empty: the text names none.
	Link string
	// Callback is our own address for receipts, with nothing of the notice; empty: none come.
	Callback string
	// Transport carries the requests. Defaults to http.DefaultTransport.
	Transport http.RoundTripper
}

// Twilio hands notices over to Twilio. It is safe for concurrent use.
type Twilio struct {
	cfg    TwilioConfig
	client client
}

// NewTwilio returns the carrier; it does no I/O.
func NewTwilio(cfg TwilioConfig) (*Twilio, error) {
	if cfg.Account == "" || cfg.Token == "" || cfg.From == "" {
		return nil, errors.New("twilio: account, token and sender are required")
	}
	if cfg.Base == "" {
		cfg.Base = DefaultTwilio
	}
	cfg.Base = strings.TrimSuffix(cfg.Base, "/")
	return &Twilio{cfg: cfg, client: newClient(cfg.Transport)}, nil
}

// Name returns ProviderTwilio.
func (t *Twilio) Name() string { return ProviderTwilio }

// Text returns what a notice says, and its segments.
func (t *Twilio) Text(n *chat.Notice) (text string, segments int) { return counted(n, t.cfg.Link) }

// twilioMessage is as much of Twilio's message as we read.
type twilioMessage struct {
	SID     string `json:"sid"`
	Status  string `json:"status"`
	Body    string `json:"body"`
	Code    *int   `json:"error_code"`
	Created string `json:"date_created"` // RFC 1123
}

// twilioFault is Twilio's answer to what it refuses.
type twilioFault struct {
	Code int `json:"code"`
}

// Send hands a notice over, once. An error that is no *Refusal: it may have been taken.
func (t *Twilio) Send(ctx context.Context, n *chat.Notice) (chat.Receipt, error) {
	form := url.Values{"To": {n.Phone}, "Body": {n.Text}}
	if strings.HasPrefix(t.cfg.From, "MG") {
		form.Set("MessagingServiceSid", t.cfg.From)
	} else {
		form.Set("From", t.cfg.From)
	}
	if t.cfg.Callback != "" {
		form.Set("StatusCallback", t.cfg.Callback+"?notice="+url.QueryEscape(n.Mark()))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.messages(), strings.NewReader(form.Encode()))
	if err != nil {
		return chat.Receipt{}, &Refusal{Verdict: NotNow, Code: "address"}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth(t.cfg.Account, t.cfg.Token)
	status, header, body, err := t.client.do(req)
	switch {
	case errors.Is(err, errUnsent):
		return chat.Receipt{}, &Refusal{Verdict: NotNow, Code: "unreachable"}
	case err != nil:
		return chat.Receipt{}, fmt.Errorf("send through twilio: %w", err)
	case status == http.StatusCreated || status == http.StatusOK:
		var m twilioMessage
		if err := json.Unmarshal(body, &m); err != nil || m.SID == "" {
			return chat.Receipt{}, errors.New("send through twilio: the answer names no message")
		}
		return m.receipt(), nil
	case status >= http.StatusInternalServerError || status < http.StatusBadRequest:
		return chat.Receipt{}, fmt.Errorf("send through twilio: answered %d", status)
	}
	return chat.Receipt{}, twilioRefusal(status, header, body)
}

func (t *Twilio) messages() string {
	return t.cfg.Base + "/2010-04-01/Accounts/" + url.PathEscape(t.cfg.Account) + "/Messages.json"
}

// twilioOptOut is Twilio's code for a number whose owner has sent STOP.
const twilioOptOut = "21610"

// twilioRefusal reads an answer of 4xx: a rate, or a fault of our account, may pass.
func twilioRefusal(status int, header http.Header, body []byte) *Refusal {
	var fault twilioFault
	_ = json.Unmarshal(body, &fault) // without a code the status says what is known
	code := strconv.Itoa(status)
	if fault.Code != 0 {
		code = strconv.Itoa(fault.Code)
	}
	switch {
	case code == twilioOptOut:
		return &Refusal{Verdict: OptOut, Code: code}
	case status == http.StatusTooManyRequests, status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound:
		seconds, _ := strconv.Atoi(header.Get("Retry-After")) // none, or a date: ours decides
		return &Refusal{Verdict: NotNow, Code: code, After: time.Duration(max(0, min(seconds, 3600))) * time.Second}
	}
	return &Refusal{Verdict: Never, Code: code}
}

// twilioPage is how many of the newest messages to a number are looked at.
const twilioPage = 50

// Find looks for a notice among the newest messages to its number. The code in its text
// makes it the only one, but for its former ones. An error: nobody can tell.
func (t *Twilio) Find(ctx context.Context, n *chat.Notice) (Found, error) {
	query := url.Values{"To": {n.Phone}, "PageSize": {strconv.Itoa(twilioPage)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.messages()+"?"+query.Encode(), nil)
	if err != nil {
		return Found{}, errors.New("look up at twilio: the address is none")
	}
	req.SetBasicAuth(t.cfg.Account, t.cfg.Token)
	status, _, body, err := t.client.do(req)
	if err != nil {
		return Found{}, fmt.Errorf("look up at twilio: %w", err)
	}
	var page struct {
		Messages *[]twilioMessage `json:"messages"`
	}
	if status != http.StatusOK {
		return Found{}, fmt.Errorf("look up at twilio: answered %d", status)
	}
	if err := json.Unmarshal(body, &page); err != nil || page.Messages == nil {
		return Found{}, errors.New("look up at twilio: the answer is no list")
	}
	for _, m := range *page.Messages {
		if m.Body == n.Text && m.SID != "" && !slices.Contains(n.Former, m.SID) {
			return Found{There: true, Receipt: m.receipt()}, nil
		}
	}
	if len(*page.Messages) < twilioPage {
		return Found{}, nil
	}
	oldest, err := time.Parse(time.RFC1123Z, (*page.Messages)[twilioPage-1].Created)
	if err != nil || !oldest.Before(n.AskedAt) {
		return Found{}, errors.New("look up at twilio: the list does not reach back far enough")
	}
	return Found{}, nil
}

func (m *twilioMessage) receipt() chat.Receipt {
	r := chat.Receipt{Status: m.Status, State: twilioState(m.Status), Carried: m.SID}
	if m.Code != nil {
		r.Code = strconv.Itoa(*m.Code)
	}
	return r
}

// twilioState says what a status means; empty: it is none that we know.
func twilioState(status string) chat.NoticeState {
	switch strings.ToLower(status) {
	case "accepted", "scheduled", "queued", "sending", "sent":
		return chat.NoticeSent
	case "delivered", "read":
		return chat.NoticeDelivered
	case "undelivered", "failed", "canceled":
		return chat.NoticeFailed
	}
	return ""
}
