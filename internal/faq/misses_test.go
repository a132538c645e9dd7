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
	b, m, now := shopOf(t), NewMisses(), time.Unix(1_000_000, 0).UTC()
	for i := range 3 {
		m.Add(b, "Do you sell parrots?", chat.English, Match{Tier: Pass, Entry: "track_order"}, now.Add(time.Duration(i)))
	}
	m.Add(b, "do you sell parrots", chat.English, Match{Tier: Offer, Entry: "exchange_item"}, now.Add(time.Minute))
	m.Add(b, "cancel order", chat.English, Match{Tier: Answer}, now)
	m.Add(b, "?!", chat.English, Match{Tier: Pass}, now)
	for i := range MaxMisses + 10 {
		m.Add(b, word(i), chat.English, Match{Tier: Pass}, now.Add(time.Duration(i)*time.Second))
	}
	all := m.List(2 * MaxMisses)
	if len(all) != MaxMisses {
		t.Fatalf("%d misses are kept, want %d", len(all), MaxMisses)
	}
	want := Miss{
		Key: all[0].Key, Text: "Do you sell parrots?", Language: chat.English, Count: 4, Offered: 1,
		Nearest: "exchange_item", LastAt: now.Add(time.Minute),
	}
	if all[0] != want || len(want.Key) != 16 {
		t.Errorf("got %+v, want %+v", all[0], want)
	}
	if all[1].Text != word(MaxMisses+9) {
		t.Errorf("of the rare ones the latest stays, got %q", all[1].Text)
	}
	if found, ok := m.Find(want.Key); !ok || found != want {
		t.Errorf("found %+v", found)
	}
	m.Settle(want.Key)
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

func TestMissesOfTwoNodesAreAddedUp(t *testing.T) {
	t.Parallel()
	b, one, two, now := shopOf(t), NewMisses(), NewMisses(), time.Unix(1_000_000, 0).UTC()
	one.Add(b, "卖鹦鹉吗", chat.Chinese, Match{Tier: Pass, Entry: "a"}, now)
	one.Add(b, "卖猫吗", chat.Chinese, Match{Tier: Pass}, now)
	two.Add(b, "卖鹦鹉吗？", chat.Chinese, Match{Tier: Offer, Entry: "b"}, now.Add(-time.Hour))
	stored := NewMisses()
	for _, node := range []*Misses{one, two} {
		stored.Merge(node.Take())
		if left := node.List(1); len(left) != 0 {
			t.Errorf("%+v is counted twice", left)
		}
		doc, err := stored.Document()
		if err != nil {
			t.Fatal(err)
		}
		if stored, err = ReadMisses(doc); err != nil {
			t.Fatal(err)
		}
	}
	all := stored.List(10)
	if len(all) != 2 || all[0].Count != 2 || all[0].Offered != 1 || all[0].Nearest != "a" || all[0].Text != "卖鹦鹉吗" || !all[0].LastAt.Equal(now) {
		t.Errorf("%+v", all)
	}
}

func TestLongMissesLeaveOutTheRarest(t *testing.T) {
	t.Parallel()
	b, m, now := shopOf(t), NewMisses(), time.Unix(1_000_000, 0).UTC()
	for i := range MaxMisses {
		text := word(i) + strings.Repeat("\u2028", 2*MaxMiss)
		m.Add(b, text, chat.English, Match{Tier: Pass}, now.Add(time.Duration(i)*time.Second))
	}
	doc, err := m.Document()
	if err != nil || len(doc) > missesRoom {
		t.Fatalf("%d bytes, %v", len(doc), err)
	}
	back, err := ReadMisses(doc)
	if err != nil {
		t.Fatal(err)
	}
	all := back.List(MaxMisses)
	if n := len(all); n < MaxMisses/2 || n == MaxMisses || all[0] != m.List(1)[0] {
		t.Errorf("%d of %d are left", n, MaxMisses)
	}
	if _, err := ReadMisses([]byte("{")); err == nil {
		t.Error("a damaged list is read")
	}
}
