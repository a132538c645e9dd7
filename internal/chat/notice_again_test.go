package chat

import (
	"testing"
	"time"
)

func TestWhatIsSentAgain(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	taken := Receipt{Status: "undelivered", State: NoticeFailed, Carried: "SM1"}
	arrived := Receipt{Status: "delivered", State: NoticeDelivered, Carried: "SM1"}
	for name, c := range map[string]struct {
		n    Notice
		want NoticeState // empty: it is not sent again
	}{
		"it never left":              {Notice{State: NoticeFailed}, NoticeQueued},
		"it was refused":             {Notice{State: NoticeFailed, Tries: 1}, NoticeQueued},
		"it was taken and failed":    {Notice{State: NoticeFailed, Tries: 1, Receipts: []Receipt{taken}}, NoticeUnknown},
		"it has a name":              {Notice{State: NoticeFailed, Tries: 1, Carried: "SM1"}, NoticeUnknown},
		"nobody knows":               {Notice{State: NoticeUnknown, Tries: 1, Settled: true}, NoticeUnknown},
		"it failed and has arrived":  {Notice{State: NoticeFailed, Tries: 1, Receipts: []Receipt{taken, arrived}}, ""},
		"it is about to be":          {Notice{State: NoticeUnknown, Tries: 1, Again: true}, ""},
		"it was, again and again":    {Notice{State: NoticeFailed, Tries: 6, Round: maxRounds}, ""},
		"it waits":                   {Notice{State: NoticeQueued}, ""},
		"it is being sent":           {Notice{State: NoticeSending, Tries: 1}, ""},
		"it was sent":                {Notice{State: NoticeSent, Tries: 1}, ""},
		"it has arrived":             {Notice{State: NoticeDelivered, Tries: 1}, ""},
		"a person has its session":   {Notice{State: NoticeCancelled}, ""},
		"from before there were any": {Notice{}, ""},
	} {
		n := c.n
		n.ID, n.DueAt = "t_A", now.Add(-time.Hour)
		why, ok := n.SendAgain(now)
		if ok != (c.want != "") || ok != (why == "") {
			t.Errorf("%s: %v, %q", name, ok, why)
		}
		if ok && (n.State != c.want || n.Again != (c.want == NoticeUnknown) || !n.LeaveBy().Equal(now.Add(AgainFor)) || !n.Open()) {
			t.Errorf("%s: %+v", name, n)
		}
	}
}

func TestAFormerTextIsNotTheNewOne(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	failed := Receipt{Status: "undelivered", State: NoticeFailed, Carried: "SM1"}
	n := Notice{ID: "t_A", State: NoticeSent, Tries: 1, Carried: "SM1"}
	n.Hear(failed, now)
	if _, ok := n.SendAgain(now); !ok || n.State != NoticeUnknown || n.Mark() != "t_A" {
		t.Fatalf("%+v", n)
	}
	n.Hear(failed, now) // as the carrier says when it is asked
	if n.State != NoticeQueued || n.Round != 1 || n.Carried != "" || n.Mark() != "t_A.1" || n.Again {
		t.Fatalf("%+v", n)
	}
	n.Hear(failed, now)
	n.Hear(Receipt{Status: "failed", State: NoticeFailed, Carried: "SM1"}, now)
	if n.State != NoticeQueued || n.Carried != "" {
		t.Errorf("the former one is told of late: %+v", n)
	}
	n.Turn(NoticeSending, now)
	n.Hear(Receipt{Status: "sent", State: NoticeSent, Carried: "SM2", Round: 1}, now)
	if n.State != NoticeSent || n.Carried != "SM2" {
		t.Errorf("%+v", n)
	}
	n.Hear(Receipt{Status: "delivered", State: NoticeDelivered, Carried: "SM1"}, now)
	if n.State != NoticeDelivered {
		t.Errorf("the former one has arrived after all: %+v", n)
	}
	for mark, want := range map[string]struct {
		id    string
		round int
	}{"t_A": {"t_A", 0}, "t_A.1": {"t_A", 1}, "t_A.5": {"t_A", 5}, "t_A.6": {"t_A.6", 0}, "t_A.01": {"t_A.01", 0}, "t_A.": {"t_A.", 0}, "": {"", 0}} {
		if id, round := NoticeOf(mark); id != want.id || round != want.round {
			t.Errorf("%q: %q, %d", mark, id, round)
		}
	}
}
