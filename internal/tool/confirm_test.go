package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/internal/chat"
)

func TestOnlyAYesIsAYes(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"yes", "Yes.", "YES!", "Yes, please", "ok", "OK, go ahead", "I confirm", "  confirm  ", "please confirm", "sure, thanks", "yes\nplease do",
		"确认", "确认。", "确认！", "好的", "好的，确认", "是的，谢谢", "请提交", "我同意", "可以的", "嗯，好吧", "确认吧", "ｙｅｓ", "同意，麻烦了",
	} {
		if !Agrees(s) {
			t.Errorf("%q is a yes", s)
		}
	}
	for _, s := range []string{
		"", " ", "no", "not yes", "yes?", "yes but later", "yes, 50 more", "yesterday", "I confirm nothing", "don't confirm", "ok no", "please", "thanks",
		"yes no", "okay, but not this order", "confirm MH1", "yes :)", "我不确认", "不", "不是的", "不好", "好像不对", "确认不退", "不同意", "不可以", "谢谢",
		"确认？", "好的，但是换一个订单", "别确认", "是吗", "可以吗", "确认 退 100", "先不提交", "\"yes\"", "<b>yes</b>",
	} {
		if Agrees(s) {
			t.Errorf("%q is no yes", s)
		}
	}
}

func TestAConfirmationFollowsOurQuestion(t *testing.T) {
	t.Parallel()
	tool := look()
	tool.Effect, tool.Confirm = true, true
	w := newWorld(t, tool, nil)
	asks := &chat.Deed{Tool: "look", Order: "MH1", Arguments: json.RawMessage(`{"order":"MH1"}`)}
	customer := func(seq uint64, ticket string) chat.Event {
		return chat.Event{Seq: seq, Who: chat.ByCustomer, Ticket: ticket, Text: "x"}
	}
	bot := func(seq uint64, ticket string, asks *chat.Deed) chat.Event {
		return chat.Event{Seq: seq, Who: chat.ByBot, Ticket: ticket, Asks: asks}
	}
	wrong := *asks
	wrong.Arguments = json.RawMessage(`{"order":"MH2"}`)
	gone := *asks
	gone.Tool = "other"
	for name, c := range map[string]struct {
		history []chat.Event
		seq     uint64
		want    bool
	}{
		"right after it":                    {[]chat.Event{customer(1, "t0"), bot(2, "t0", asks), customer(3, "t1")}, 3, true},
		"nothing before":                    {[]chat.Event{customer(1, "t1")}, 1, false},
		"after a message that asks nothing": {[]chat.Event{customer(1, "t0"), bot(2, "t0", nil), customer(3, "t1")}, 3, false},
		"written before the question":       {[]chat.Event{customer(1, "t0"), customer(2, "t1"), bot(3, "t0", asks)}, 2, false},
		"another message in between":        {[]chat.Event{bot(2, "t0", asks), customer(3, "t9"), customer(4, "t1")}, 4, false},
		"another answer in between":         {[]chat.Event{bot(2, "t0", asks), bot(3, "t9", nil), customer(4, "t1")}, 4, false},
		"a customer's message cannot ask":   {[]chat.Event{{Seq: 2, Who: chat.ByCustomer, Ticket: "t0", Asks: asks}, customer(3, "t1")}, 3, false},
		"a question that does not fit":      {[]chat.Event{bot(2, "t0", &wrong), customer(3, "t1")}, 3, false},
		"a tool that is gone":               {[]chat.Event{bot(2, "t0", &gone), customer(3, "t1")}, 3, false},
	} {
		q := of("c1")
		q.Ticket.Message, q.Ticket.Seq, q.History = "yes", c.seq, c.history
		deed, got := w.set.Begin(q, nil).Confirmed()
		if got != c.want || got && (deed.Order != "MH1" || deed.Tool != "look") {
			t.Errorf("%s: %t, %+v", name, got, deed)
		}
		q.Ticket.Customer = nil
		if _, got := w.set.Begin(q, nil).Confirmed(); got {
			t.Errorf("%s: confirmed by nobody", name)
		}
	}
}

func TestATextIsFilledInWithoutMarkup(t *testing.T) {
	t.Parallel()
	got := filled("{order}: {amount} {flag}{none} {", map[string]any{"order": "MH1 <b>*x*\n[a](b)", "amount": 59.9, "flag": true, "list": []any{}})
	if got != "MH1 bxa(b): 59.9 true " {
		t.Errorf("%q", got)
	}
}

// TestASecondRequestIsNotDroppedInSilence: one is asked for at a time, and the customer and
// the model read what became of the others.
func TestASecondRequestIsNotDroppedInSilence(t *testing.T) {
	t.Parallel()
	tool := look()
	tool.Effect, tool.Confirm = true, true
	tool.Question = map[string]string{chat.English: "Order {order}: shall I?", chat.Chinese: "订单 {order}：要提交吗？"}
	w := newWorld(t, tool, nil)
	r := w.set.Begin(of("c1"), nil)
	for _, order := range []string{"MH1", "MH2", "MH2"} {
		got := r.Call(w.ctx, "look", `{"order":"`+order+`"}`)
		if again := strings.Contains(got, "one request at a time"); again == (order == "MH1") && !strings.Contains(got, "often") {
			t.Errorf("of %s the model reads %s", order, got)
		}
	}
	text, deed, asked := r.Question()
	if !asked || deed.Order != "MH1" || text != "Order MH1: shall I? The request for order MH2 was not submitted: please ask for it again after this one." {
		t.Errorf("the customer reads %q (%s)", text, deed.Order)
	}
}

// TestWhatWasDoneBeforeIsToldAsThat: the customer who agrees to another amount for the same
// order learns that it was not submitted.
func TestWhatWasDoneBeforeIsToldAsThat(t *testing.T) {
	t.Parallel()
	tool := look()
	tool.Effect, tool.Confirm = true, true
	tool.Done = map[string]string{chat.English: "Refunded: {amount}.", chat.Chinese: "已退 {amount}。"}
	w := newWorld(t, tool, nil)
	r := w.set.Begin(of("c1"), nil)
	claim := chat.Claim{Deed: chat.Deed{Tool: "look", Order: "MH1", Arguments: json.RawMessage(`{"order":"MH1"}`)}, Result: json.RawMessage(`{"amount":"10"}`)}
	if got := r.Report(Verdict{Outcome: Done, Claim: claim}); got != "Refunded: 10." {
		t.Errorf("done now: %q", got)
	}
	if got := r.Report(Verdict{Outcome: Done, Claim: claim, earlier: true}); got != "For order MH1 there was a request before, and nothing more was submitted now: Refunded: 10." {
		t.Errorf("done before: %q", got)
	}
}
