package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"

	"github.com/coder/websocket"

	"sluice/internal/chat"
)

// Limits of what a client sends.
const (
	maxFrame   = 64 << 10 // bytes
	maxComment = 2000     // characters
)

// The codes that sockets are closed with. Up to 4499: try again; from 4500 on: do not.
const (
	closeUnavailable websocket.StatusCode = 4000
	closeShutdown    websocket.StatusCode = 4001
	closeSlow        websocket.StatusCode = 4008
	closeTooMany     websocket.StatusCode = 4013
	closeBadKey      websocket.StatusCode = 4500
	closeBadFrame    websocket.StatusCode = 4501
	closeTooManyHere websocket.StatusCode = 4504
	closeOrigin      websocket.StatusCode = 4507
)

var cmid = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// What a client sends. A field that is null is not there.
type (
	helloFrame struct {
		Type     string  `json:"type" enum:"hello"`
		Key      string  `json:"key" doc:"the tenant's publishable key"`
		Identity *string `json:"identity,omitempty" nullable:"true" doc:"a JWT that names the customer (HS256; sub, aud, exp); a bad one is refused"`
		Session  string  `json:"session,omitempty" nullable:"true" doc:"an existing session, which its token or its identity reopens; left out: a new one"`
		Token    string  `json:"token,omitempty" nullable:"true" doc:"of a former welcome"`
		After    *uint64 `json:"after,omitempty" nullable:"true" doc:"replays every durable event after this seq; left out: none"`
		Locale   string  `json:"locale,omitempty" nullable:"true" maxLength:"35" doc:"BCP 47 tag"`
	}
	sendFrame struct {
		Type  string `json:"type" enum:"send"`
		CMID  string `json:"cmid" pattern:"^[A-Za-z0-9_-]{1,64}$" doc:"made by the client, the same at every repeat"`
		Text  string `json:"text" minLength:"1" maxLength:"10000"`
		Phone string `json:"phone,omitempty" nullable:"true" doc:"E.164"`
	}
	cancelFrame struct {
		Type   string `json:"type" enum:"cancel"`
		Ticket string `json:"ticket"`
	}
	typeFrame struct { // typing
		Type string `json:"type" enum:"typing"`
		On   *bool  `json:"on" nullable:"false"`
	}
	readFrame struct {
		Type string  `json:"type" enum:"read"`
		Seq  *uint64 `json:"seq" nullable:"false" doc:"everything up to it was seen"`
	}
	rateFrame struct {
		Type    string `json:"type" enum:"rate"`
		Ticket  string `json:"ticket"`
		Score   *int   `json:"score" nullable:"false" minimum:"1" maximum:"5"`
		Comment string `json:"comment,omitempty" nullable:"true" maxLength:"2000"`
	}
	pingFrame struct {
		Type string `json:"type" enum:"ping"`
	}
)

// What the server sends.
type (
	welcomeFrame struct {
		Type      string      `json:"type" enum:"welcome"`
		Session   string      `json:"session"`
		Token     string      `json:"token" doc:"reopens the session, also when the identity that opened it has run out"`
		Head      uint64      `json:"head" doc:"seq of the session's newest event"`
		Recovered bool        `json:"recovered" doc:"false: after is older than what is kept"`
		Limits    limitsFrame `json:"limits"`
		PingS     float64     `json:"ping_s" doc:"seconds"`
	}
	limitsFrame struct {
		FrameBytes     int     `json:"frame_bytes"`
		TextCharacters int     `json:"text_characters"`
		SendsPerSecond float64 `json:"sends_per_second"`
		SendsAtOnce    int     `json:"sends_at_once"`
	}
	ackFrame struct {
		Type   string `json:"type" enum:"ack"`
		CMID   string `json:"cmid"`
		Ticket string `json:"ticket"`
		Seq    uint64 `json:"seq"`
		Dup    bool   `json:"dup" doc:"it was acknowledged before"`
	}
	eventFrame struct {
		Type string `json:"type" enum:"event"`
		chat.Event
	}
	deltaFrame struct {
		Type string `json:"type" enum:"delta"`
		chat.Delta
	}
	queueFrame struct {
		Type     string    `json:"type" enum:"queue"`
		Ticket   string    `json:"ticket"`
		Lane     chat.Lane `json:"lane"`
		Position int       `json:"position"`
		ETAMS    int64     `json:"eta_ms"`
	}
	typingFrame struct {
		Type  string   `json:"type" enum:"typing"`
		Who   chat.Who `json:"who"`
		TTLMS int64    `json:"ttl_ms" doc:"0: no longer"`
	}
	errorFrame struct {
		Type         string `json:"type" enum:"error"`
		CMID         string `json:"cmid,omitempty"`
		Code         string `json:"code" doc:"as of HTTP's problems"`
		RetryAfterMS int64  `json:"retry_after_ms,omitempty"`
		Temporary    bool   `json:"temporary" doc:"the same again may do"`
	}
	goawayFrame struct {
		Type    string `json:"type" enum:"goaway"`
		AfterMS int64  `json:"after_ms" doc:"come back at a moment of your own choice within it"`
	}
	pongFrame struct {
		Type string `json:"type" enum:"pong"`
		Head uint64 `json:"head" doc:"seq of the session's newest event"`
	}
)

// frameType returns the type of a frame as it came.
func frameType(data []byte) (string, error) {
	if err := checkHonest(data); err != nil {
		return "", err
	}
	var f struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return "", fmt.Errorf("decode frame: %w", err)
	}
	return f.Type, nil
}

// decodeFrame reads one frame as a T and refuses fields that T does not have.
func decodeFrame[T any](data []byte) (T, error) {
	var f T
	if err := checkNames(data, reflect.TypeFor[T]()); err != nil {
		return f, fmt.Errorf("decode frame: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return f, fmt.Errorf("decode frame: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return f, errors.New("decode frame: more than one object")
	}
	return f, nil
}

// errorOf says to the client what went wrong with a message, without its text.
func errorOf(cmid string, err error) errorFrame {
	f := errorFrame{Type: "error", CMID: cmid, Code: codeInternal}
	var e *chat.Error
	if errors.As(err, &e) {
		f.Code, f.RetryAfterMS = e.Code, e.RetryAfter.Milliseconds()
		f.Temporary = e.Kind == chat.Overloaded || e.Kind == chat.Transient
	}
	return f
}
