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

// What a client sends.
type (
	helloFrame struct {
		Type     string  `json:"type"`
		Key      string  `json:"key"`
		Identity *string `json:"identity"`
		Session  string  `json:"session"`
		Token    string  `json:"token"`
		After    *uint64 `json:"after"`
		Locale   string  `json:"locale"`
	}
	sendFrame struct {
		Type  string `json:"type"`
		CMID  string `json:"cmid"`
		Text  string `json:"text"`
		Phone string `json:"phone"`
	}
	cancelFrame struct {
		Type   string `json:"type"`
		Ticket string `json:"ticket"`
	}
	typeFrame struct { // typing
		Type string `json:"type"`
		On   *bool  `json:"on"`
	}
	readFrame struct {
		Type string  `json:"type"`
		Seq  *uint64 `json:"seq"`
	}
	rateFrame struct {
		Type    string `json:"type"`
		Ticket  string `json:"ticket"`
		Score   *int   `json:"score"`
		Comment string `json:"comment"`
	}
	pingFrame struct {
		Type string `json:"type"`
	}
)

// What the server sends.
type (
	welcomeFrame struct {
		Type      string      `json:"type"`
		Session   string      `json:"session"`
		Token     string      `json:"token,omitempty"` // absent when an identity opened the session
		Head      uint64      `json:"head"`
		Recovered bool        `json:"recovered"`
		Limits    limitsFrame `json:"limits"`
		PingS     float64     `json:"ping_s"`
	}
	limitsFrame struct {
		FrameBytes     int     `json:"frame_bytes"`
		TextCharacters int     `json:"text_characters"`
		SendsPerSecond float64 `json:"sends_per_second"`
		SendsAtOnce    int     `json:"sends_at_once"`
	}
	ackFrame struct {
		Type   string `json:"type"`
		CMID   string `json:"cmid"`
		Ticket string `json:"ticket"`
		Seq    uint64 `json:"seq"`
		Dup    bool   `json:"dup"`
	}
	eventFrame struct {
		Type string `json:"type"`
		chat.Event
	}
	deltaFrame struct {
		Type string `json:"type"`
		chat.Delta
	}
	queueFrame struct {
		Type     string    `json:"type"`
		Ticket   string    `json:"ticket"`
		Lane     chat.Lane `json:"lane"`
		Position int       `json:"position"`
		ETAMS    int64     `json:"eta_ms"`
	}
	typingFrame struct {
		Type  string   `json:"type"`
		Who   chat.Who `json:"who"`
		TTLMS int64    `json:"ttl_ms"` // 0: no longer
	}
	errorFrame struct {
		Type         string `json:"type"`
		CMID         string `json:"cmid,omitempty"`
		Code         string `json:"code"`
		RetryAfterMS int64  `json:"retry_after_ms,omitempty"`
		Temporary    bool   `json:"temporary"`
	}
	goawayFrame struct {
		Type    string `json:"type"`
		AfterMS int64  `json:"after_ms"`
	}
	pongFrame struct {
		Type string `json:"type"`
		Head uint64 `json:"head"`
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
