package worker

import (
	"testing"

	"sluice/internal/chat"
)

func TestATransferThatIsClaimedIsKnown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"已为您转接人工客服,请稍候。":                                           true,
		"我正在帮您转接专员。":                                               true,
		"好的,马上为您转人工客服。":                                            true,
		"您可以回复“转人工”联系人工客服。":                                        false,
		"如需人工客服,请告诉我。":                                             false,
		"目前还不能为您转接人工客服。":                                           false,
		"I have transferred you to a human agent.":                 true,
		"I'm connecting you with one of our specialists now.":      true,
		"You are being transferred, please hold on.":               true,
		"We've just passed your case on to a colleague.":           true,
		"I can transfer you to a human agent if you like.":         false,
		"I have not transferred you to an agent.":                  false,
		"Would you like me to hand this over to a colleague?":      false,
		"Your parcel has been handed to the carrier's depot today": false,
	} {
		if got := claimsTransfer(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestAnAnswerThatCallsAPersonSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorker(t, &model{}, Config{})
	ticket := &chat.Ticket{ID: chat.NewTicketID(), Language: chat.Chinese}
	silent := w.truthful(chat.Answer{}, ticket, true)
	if silent.Handoff != chat.HandoffTool || silent.Reply.Text != w.Handoff(ticket).Text {
		t.Errorf("without a word of the model's: %+v", silent)
	}
	said := w.truthful(chat.Answer{Reply: chat.Reply{Text: "A colleague is coming."}}, ticket, true)
	if said.Handoff != chat.HandoffTool || said.Reply.Text != "A colleague is coming." {
		t.Errorf("with one: %+v", said)
	}
	claimed := w.truthful(chat.Answer{Reply: chat.Reply{Text: "I have transferred you to an agent."}}, ticket, false)
	if claimed.Handoff != chat.HandoffClaim {
		t.Errorf("claimed: %+v", claimed)
	}
}
