package faq

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/chat"
)

func TestMissesKeepTheFrequentOnes(t *testing.T) {
	t.Parallel()
	b, m, now := shopOf(t), NewMisses(), time.Unix(1_000_000, 0)
	for i := range 3 {
		m.Add(b, "Do you sell parrots?", chat.English, Match{Tier: Pass, Entry: "track_order"}, now.Add(time.Duration(i)))
	}
	m.Add(b, "do you sell parrots", chat.English, Match{Tier: Offer, Entry: "exchange_item"}, now.Add(time.Minute))
	m.Add(b, "cancel order", chat.English, Match{Tier: Answer}, now)
	for i := range MaxMisses + 10 {
		m.Add(b, word(i), chat.English, Match{Tier: Pass}, now.Add(time.Duration(i)*time.Second))
	}
	all := m.List(2 * MaxMisses)
	if len(all) != MaxMisses {
		t.Fatalf("%d misses are kept, want %d", len(all), MaxMisses)
	}
	want := Miss{Text: "Do you sell parrots?", Language: chat.English, Count: 4, Offered: 1, Nearest: "exchange_item", LastAt: now.Add(time.Minute)}
	if all[0] != want {
		t.Errorf("got %+v, want %+v", all[0], want)
	}
	if all[1].Text != word(MaxMisses+9) {
		t.Errorf("of the rare ones the latest stays, got %q", all[1].Text)
	}
	m.Settle(b, "DO you sell parrots")
	if got := m.List(1)[0].Text; got == want.Text {
		t.Error("a settled question is still listed")
	}
}

func word(i int) string {
	var w strings.Builder
	for _, digit := range fmt.Sprintf("%05d", i) {
		w.WriteRune(digit - '0' + 'a')
		w.WriteByte('z') // no letter more than twice in a row
	}
	return w.String()
}
