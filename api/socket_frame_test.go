package api

import (
	"encoding/json"
	"errors"
	"testing"
	"time"
	"unicode/utf8"

	"sluice/internal/chat"
)

func TestFramesLookAsDocumented(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for want, f := range map[string]any{
		`{"type":"welcome","session":"s","token":"t","head":2,"recovered":true,"limits":{"frame_bytes":65536,"text_characters":10000,"sends_per_second":2,"sends_at_once":10},"ping_s":25}`: welcomeFrame{
			Type: "welcome", Session: "s", Token: "t", Head: 2, Recovered: true, PingS: 25,
			Limits: limitsFrame{FrameBytes: maxFrame, TextCharacters: chat.MaxMessage, SendsPerSecond: 2, SendsAtOnce: 10},
		},
		`{"type":"ack","cmid":"c","ticket":"t_1","seq":3,"dup":false}`: ackFrame{Type: "ack", CMID: "c", Ticket: "t_1", Seq: 3},
		`{"type":"ack","cmid":"c","ticket":"t_1","seq":3,"dup":true}`:  ackFrame{Type: "ack", CMID: "c", Ticket: "t_1", Seq: 3, Dup: true},
		`{"type":"event","seq":4,"kind":"message","at":"2026-03-01T12:00:00Z","ticket":"t_1","who":"bot","text":"hi","status":"answered"}`: eventFrame{
			Type:  "event",
			Event: chat.Event{Seq: 4, Kind: chat.KindMessage, At: at, Ticket: "t_1", Who: chat.ByBot, Text: "hi", Status: chat.Answered},
		},
		`{"type":"delta","ticket":"t_1","attempt":1,"i":0,"text":"h"}`:                           deltaFrame{Type: "delta", Delta: chat.Delta{Ticket: "t_1", Attempt: 1, Text: "h"}},
		`{"type":"queue","ticket":"t_1","lane":"high","position":1,"eta_ms":0}`:                  queueFrame{Type: "queue", Ticket: "t_1", Lane: chat.High, Position: 1},
		`{"type":"error","cmid":"c","code":"queue_full","retry_after_ms":2000,"temporary":true}`: errorOf("c", &chat.Error{Kind: chat.Overloaded, Code: codeQueueFull, RetryAfter: 2 * time.Second}),
		`{"type":"error","cmid":"c","code":"internal","temporary":false}`:                        errorOf("c", errors.New("secret")),
		`{"type":"goaway","after_ms":0}`:                                                         goawayFrame{Type: "goaway"},
		`{"type":"pong","head":0}`:                                                               pongFrame{Type: "pong"},
	} {
		raw, err := json.Marshal(f)
		must(t, err)
		if string(raw) != want {
			t.Errorf("got  %s\nwant %s", raw, want)
		}
	}
}

func FuzzFrame(f *testing.F) {
	for _, seed := range []string{
		`{"type":"hello","key":"pk_A","session":"s_1","token":"t","after":3,"locale":"zh-CN","identity":"a.b.c"}`,
		`{"type":"send","cmid":"1","text":"你好","phone":"+8613800138000"}`, `{"type":"cancel","ticket":"t_"}`,
		`{"type":"rate","ticket":"t_","score":5}`, `{"type":"ping"}`, `{}`, `[`, "\xff",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := frameType(data); err != nil {
			return
		}
		hello, err := decodeFrame[helloFrame](data)
		if err == nil && hello.Identity != nil {
			if sub, err := verifyIdentity(*hello.Identity, chat.Tenant{Name: "demo", IdentitySecret: "is_x"}, time.Now()); err == nil {
				t.Fatalf("an identity was made up: %q", sub)
			}
		}
		send, err := decodeFrame[sendFrame](data)
		if err == nil && (!utf8.ValidString(send.Text) || !utf8.ValidString(send.CMID)) {
			t.Fatal("text that is not UTF-8 came through")
		}
		_, _ = decodeFrame[cancelFrame](data)
		if rate, err := decodeFrame[rateFrame](data); err == nil && rate.check() == nil && (*rate.Score < 1 || *rate.Score > 5) {
			t.Fatal("a score out of range came through")
		}
	})
}
