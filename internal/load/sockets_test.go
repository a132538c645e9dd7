package load

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
	"sluice/internal/report"
)

// twenty sockets send about twenty messages each second, for a second.
func twenty() SocketsConfig {
	return SocketsConfig{
		Sockets: 20, Opens: 1000, Every: time.Second, For: time.Second, Rest: 20 * time.Millisecond, Timeout: 300 * time.Millisecond, Seed: 1,
	}
}

// playSockets plays a load that must begin.
func playSockets(t *testing.T, to SocketTarget, cfg SocketsConfig) *SocketsReport {
	t.Helper()
	r, err := Sockets(t.Context(), to, cfg, report.Progress{})
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for _, n := range r.Refused {
		refused += n
	}
	if r.Messages != r.Unacked+refused+r.Acked {
		t.Errorf("the counts do not add up: %+v", r)
	}
	if r.Verdict.OK != r.OK() || r.OK() != (len(r.Verdict.Reasons) == 0) {
		t.Errorf("verdict %+v, OK() %t", r.Verdict, r.OK())
	}
	return r
}

func TestSocketsFollowsEveryMessageToItsEnd(t *testing.T) {
	t.Parallel()
	c := newCounter(t, wrongs{})
	r := playSockets(t, c.target(), twenty())
	if !r.OK() || r.Opened != 20 || r.Messages < 20 || r.Acked != r.Messages || r.Ended != r.Messages {
		t.Fatalf("verdict %+v, opened %d, %d messages, %d acknowledged, %d ended", r.Verdict, r.Opened, r.Messages, r.Acked, r.Ended)
	}
	if r.Messages != c.n || r.AckMS.Count != c.n || r.AnswerMS.Count != c.n || r.Routes[chat.RouteAgent] != c.n || r.OpenMS.Count != 20 {
		t.Errorf("%d messages at the server; report %+v", c.n, r)
	}
	if u := r.Server; !u.Measured || u.StartBytes != 100<<20 || u.IdleEach != 10<<10 || u.MostEach != 10<<10 {
		t.Errorf("the server's memory: %+v", u)
	}
	texts := map[string]bool{}
	for _, log := range c.logs {
		for _, e := range log {
			if e.Who == chat.ByCustomer {
				texts[e.Text] = true
			}
		}
	}
	if len(texts) != c.n {
		t.Errorf("%d different messages of %d", len(texts), c.n)
	}
}

func TestSocketsFindsWhatIsWrong(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wrongs wrongs
		fault  string
		want   func(*SocketsReport) bool
	}{
		"a message that is acknowledged and lost": {
			wrongs{lose: only(3)}, "messages lost: 1", func(r *SocketsReport) bool { return r.Lost == 1 && r.Doubled == 0 },
		},
		"a message that is stored twice": {
			wrongs{double: only(4)}, "messages or ends doubled: 1", func(r *SocketsReport) bool { return r.Doubled == 1 && r.Lost == 0 },
		},
		"a second end": {
			wrongs{twice: only(5)}, "messages or ends doubled: 1", func(r *SocketsReport) bool { return r.Doubled == 1 && r.Gaps == 0 },
		},
		"a message without an end": {
			wrongs{forget: only(6, 7)}, "messages without an end: 2", func(r *SocketsReport) bool { return r.Unended == 2 && r.Lost == 0 },
		},
		"a message without an ack": {
			wrongs{mute: only(8)}, "messages without an ack: 1", func(r *SocketsReport) bool { return r.Unacked == 1 && r.Lost == 0 },
		},
		"an end that the socket is not told": {
			wrongs{hide: only(9)}, "told something else", func(r *SocketsReport) bool { return r.Untold == 1 && r.Unended == 0 },
		},
		"a server that lets nobody in": {
			wrongs{full: true}, "sockets that did not open: 2",
			func(r *SocketsReport) bool {
				return r.Opened == 0 && r.Closes["4013 no room"] > 0 && strings.Contains(r.Notes[0], "`sockets` of the rules")
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := twenty()
			if c.wrongs.full {
				cfg.Sockets = 2
			}
			r := playSockets(t, newCounter(t, c.wrongs).target(), cfg)
			if r.OK() || !strings.Contains(strings.Join(r.Verdict.Reasons, "\n"), c.fault) || !c.want(r) {
				t.Errorf("verdict %+v, want a fault with %q; report %+v", r.Verdict, c.fault, r)
			}
		})
	}
}

func TestSocketsComesBackAndRepeats(t *testing.T) {
	t.Parallel()
	cfg := twenty()
	cfg.Timeout = 20 * time.Second // ends once all is told
	r := playSockets(t, newCounter(t, wrongs{cut: only(2, 11), wait: only(5), refuse: only(7)}).target(), cfg)
	if !r.OK() || r.Reopened != 2 || r.Closes["connection lost"] != 2 || r.Held["rate_limited"] != 1 || r.Refused["invalid"] != 1 {
		t.Errorf("verdict %+v; %d opened anew, closes %v, held %v, refused %v", r.Verdict, r.Reopened, r.Closes, r.Held, r.Refused)
	}
	if r.Ended != r.Messages-1 {
		t.Errorf("%d of %d messages ended, one of them refused", r.Ended, r.Messages)
	}
}

func TestSocketsThatIsInterruptedTellsWhatItKnows(t *testing.T) {
	t.Parallel()
	cfg := twenty()
	cfg.For = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	r, err := Sockets(ctx, newCounter(t, wrongs{}).target(), cfg, report.Progress{})
	if err != nil || !r.Interrupted || r.OK() || r.Opened != 20 {
		t.Errorf("error %v, report %+v", err, r)
	}
}

func TestSocketsNeedsRoomAndALocalTarget(t *testing.T) {
	t.Parallel()
	to := newCounter(t, wrongs{}).target()
	cfg := twenty()
	cfg.Sockets = 995
	if _, err := Sockets(t.Context(), to, cfg, report.Progress{}); err == nil || !strings.Contains(err.Error(), "ulimit -n 4096") {
		t.Errorf("an instance of 1,000 files: %v, want the cure", err)
	}
	if err := enoughFiles(1 << 40); err != nil && !strings.Contains(err.Error(), "ulimit -Hn") {
		t.Errorf("too few files here: %v, want the cure", err)
	}
	to.BaseURL = "http://192.0.2.1:8080"
	if _, err := Sockets(t.Context(), to, twenty(), report.Progress{}); !errors.Is(err, ErrRemote) {
		t.Errorf("another machine: %v, want ErrRemote", err)
	}
	for field, cfg := range map[string]SocketsConfig{
		"sockets": {Sockets: 20_001}, "opens": {Opens: -1}, "every": {Every: time.Millisecond}, "for": {For: time.Hour, Every: time.Second},
		"rest": {Rest: -1}, "timeout": {Timeout: 2 * time.Hour},
	} {
		if err := cfg.Validate(); err == nil || !strings.HasPrefix(err.Error(), field) {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

// exampleSockets is of a run in which much happened.
func exampleSockets() *SocketsReport {
	return &SocketsReport{
		Scenario: "sockets", Target: "127.0.0.1:8080", StartedAt: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC),
		Settings: SocketsSettings{Sockets: 1000, Tenants: 4, Opens: 250, EveryMS: 30_000, ForMS: 120_000},
		Opened:   999, Gone: 1, Reopened: 7, Closes: map[string]int{"4008 too slow": 7, "connection <lost>": 1}, OpenMS: Spread{999, 3, 9, 20, 41},
		Messages: 4000, Acked: 3990, Ended: 3988, Routes: map[chat.Route]int{chat.RouteAgent: 3900, chat.RouteTemplate: 88},
		Refused: map[string]int{"invalid": 9}, Held: map[string]int{"rate_limited": 30}, Unacked: 1, Lost: 1, Gaps: 2, Unended: 1,
		AckMS: Spread{3990, 4, 19, 55, 120}, AnswerMS: Spread{3988, 510, 900, 1200, 2100},
		AckCount: []Bucket{{5, 3000}, {10, 800}, {15, 190}}, AnswerCount: []Bucket{{1000, 3900}, {2000, 80}, {3000, 8}},
		Server: ServerUse{
			Measured: true, StartBytes: 120 << 20, IdleBytes: 170 << 20, MostBytes: 200 << 20, EndBytes: 190 << 20, IdleEach: 52_428, MostEach: 83_886, IdleInUse: 30_000,
			IdleCPU: 0.04, TalkCPU: 0.61, Goroutines: 3120,
		},
		Series: []SocketSecond{{At: 1, Open: 250, Bytes: 130 << 20}, {At: 2, Open: 500, Acks: 31.5, Answers: 29, Bytes: 150 << 20, CPU: 0.8}},
		Notes:  []string{"a <note> & more"},
	}
}

func TestSocketsReportIsGoldenAndWhole(t *testing.T) {
	t.Parallel()
	var got, page, first, second bytes.Buffer
	want := exampleSockets()
	if err := errors.Join(want.Table(&got), want.HTML(&page), want.JSON(&first)); err != nil {
		t.Fatal(err)
	}
	const name = "testdata/sockets.golden"
	if *update {
		if err := os.WriteFile(name, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(name)
	if err != nil || got.String() != string(kept) {
		t.Errorf("the table is (%v)\n%s\nwant\n%s", err, got.String(), kept)
	}
	var back SocketsReport
	if err := errors.Join(json.Unmarshal(first.Bytes(), &back), back.Table(&second)); err != nil || second.String() != got.String() {
		t.Errorf("a report that was read back shows something else (%v)", err)
	}
	dec := xml.NewDecoder(strings.NewReader(page.String()))
	dec.Strict, dec.AutoClose, dec.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	charts := 0
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, is := token.(xml.StartElement); is && e.Name.Local == "svg" {
			charts++
		}
	}
	if charts != 6 || strings.Contains(page.String(), "<note>") {
		t.Errorf("%d charts on the page, want 6, and no tag of a note", charts)
	}
}
