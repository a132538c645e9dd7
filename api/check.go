package api

import (
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"

	"sluice/internal/chat"
	"sluice/internal/rules"
)

// Limits of a message's optional fields, in characters unless said otherwise.
const (
	minWait        = time.Second
	maxCustomer    = 128
	maxURL         = 2048 // bytes
	maxPairs       = 16
	maxMetadataKey = 64
	maxMetadata    = 512
)

var (
	locale = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,6}$`)
	e164   = regexp.MustCompile(`^\+[1-9][0-9]{1,14}$`)
)

// check says what is wrong with a message, or nil. Fields are named as in the HTTP body.
func (m *Message) check(limits map[chat.Lane]rules.Lane) error {
	for _, check := range []func() error{
		func() error { return chat.CheckMessage("message", m.Text) },
		m.checkSession,
		m.checkLane,
		func() error { return m.checkWait(limits) },
		m.checkPhone,
		m.checkCallback,
		m.checkLocale,
		m.checkCustomer,
		m.checkMetadata,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (m *Message) checkSession() error {
	if m.Session != "" && !chat.IsSessionID(m.Session) {
		return chat.Bad("session_id", "must be 1 to 64 of A-Z a-z 0-9 _ -")
	}
	return nil
}

func (m *Message) checkLane() error {
	switch {
	case m.Lane == "":
		return nil
	case !m.Lane.Valid():
		return chat.Bad("lane", "must be one of high, normal, low, deferred, batch")
	case m.Lane.Rank() > m.Tenant.Lane.Rank():
		return &chat.Error{
			Kind: chat.Denied, Code: codeLane, Field: "lane",
			Detail: "the tenant's best lane is " + string(m.Tenant.Lane),
		}
	}
	return nil
}

func (m *Message) checkWait(limits map[chat.Lane]rules.Lane) error {
	if m.MaxWait == 0 {
		return nil
	}
	lane := m.Lane
	if lane == "" {
		lane = m.Tenant.Lane
	}
	if most := limits[lane].MaxWait; m.MaxWait < minWait || m.MaxWait > most {
		return chat.Bad("max_wait", "must be from %s to %s in lane %s", minWait, most, lane)
	}
	return nil
}

// checkPhone asks for the form and the length that the country gives its numbers, not
// for a number that is in use: tables of those age.
func (m *Message) checkPhone() error {
	if m.Phone == "" {
		return nil
	}
	bad := chat.Bad("phone", "must be an E.164 number such as +8613800138000")
	if !e164.MatchString(m.Phone) {
		return bad
	}
	number, err := phonenumbers.Parse(m.Phone, "")
	if err != nil || !phonenumbers.IsPossibleNumber(number) {
		return bad
	}
	return nil
}

func (m *Message) checkCallback() error {
	if m.CallbackURL == "" {
		return nil
	}
	u, err := url.Parse(m.CallbackURL)
	switch {
	case len(m.CallbackURL) > maxURL:
		return chat.Bad("callback_url", "must hold at most %d bytes", maxURL)
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.User != nil,
		!utf8.ValidString(m.CallbackURL), strings.ContainsFunc(m.CallbackURL, isSpaceOrControl):
		return chat.Bad("callback_url", "must be an absolute http or https URL without a user name")
	}
	return nil
}

func isSpaceOrControl(r rune) bool { return r <= ' ' || r == 0x7f }

func (m *Message) checkLocale() error {
	if m.Locale != "" && !locale.MatchString(m.Locale) {
		return chat.Bad("locale", "must be a language tag such as zh-CN")
	}
	return nil
}

func (m *Message) checkCustomer() error {
	if m.Customer == nil {
		return nil
	}
	if err := checkText("customer.id", m.Customer.ID, maxCustomer); err != nil {
		return err
	}
	return checkText("customer.name", m.Customer.Name, maxCustomer)
}

func (m *Message) checkMetadata() error {
	if len(m.Metadata) > maxPairs {
		return chat.Bad("metadata", "must hold at most %d pairs, has %d", maxPairs, len(m.Metadata))
	}
	for key, value := range m.Metadata {
		if key == "" {
			return chat.Bad("metadata", "must not hold an empty key")
		}
		if err := checkText("metadata", key, maxMetadataKey); err != nil {
			return err
		}
		if err := checkText("metadata", value, maxMetadata); err != nil {
			return err
		}
	}
	return nil
}

// checkText bounds a short text and refuses what no text may hold.
func checkText(field, s string, most int) error {
	if !utf8.ValidString(s) {
		return chat.Bad(field, "must be valid UTF-8")
	}
	if n := utf8.RuneCountInString(s); n > most {
		return chat.Bad(field, "must hold at most %d characters, has %d", most, n)
	}
	return chat.CheckControls(field, s)
}
