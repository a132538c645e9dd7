package intent

import "testing"

// TestWhoDoesNotWantItIsNotUrgent has messages that deny what they name, or name it in
// another sense. Nothing learns from them. As many may be flagged as were when this was
// written, and a few more.
func TestWhoDoesNotWantItIsNotUrgent(t *testing.T) {
	t.Parallel()
	c := learnt(t)
	known := texts(t)
	asked, flagged := map[string]int{}, map[string]int{}
	for _, row := range labelled(t, "denied.csv") {
		kind, text := row[0], row[1]
		if known[text] {
			t.Errorf("%q is an example", text)
		}
		asked[kind]++
		if got := c.Classify(text); got.Urgent {
			flagged[kind]++
			t.Logf("%q is %s and flagged", text, got.Intent)
		}
	}
	for kind, most := range map[string]int{"negated": 3, "other sense": 2} {
		if asked[kind] < 20 || flagged[kind] > most {
			t.Errorf("%s: %d of %d are flagged, want %d at most", kind, flagged[kind], asked[kind], most)
		}
	}
}
