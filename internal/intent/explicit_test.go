package intent

import "testing"

// TestWhoAsksOutrightIsUrgent has messages that name what they want: money back, a
// complaint, a person. Nothing learns from them; of each language 99 in 100 are flagged.
func TestWhoAsksOutrightIsUrgent(t *testing.T) {
	t.Parallel()
	c := learnt(t)
	known := texts(t)
	asked, flagged := map[string]int{}, map[string]int{}
	for _, row := range labelled(t, "explicit.csv") {
		lang, want, text := row[0], row[1], row[2]
		if known[text] {
			t.Errorf("%q is an example of %s", text, want)
		}
		asked[lang]++
		if c.Classify(text).Urgent {
			flagged[lang]++
		} else {
			t.Logf("%q is %s and not flagged", text, want)
		}
	}
	for _, lang := range []string{"zh", "en"} {
		if asked[lang] != 100 || flagged[lang] < 99 {
			t.Errorf("%s: %d of %d are urgent, want 99 of 100", lang, flagged[lang], asked[lang])
		}
	}
}
