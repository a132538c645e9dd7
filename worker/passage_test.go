package worker

import "testing"

func TestAPassageIsOneLineWithoutWhatNoAnswerNeeds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"One.\n\n- two\n- three  four\n":                          "One. / - two / - three four",
		"a ![b](https://x.example/p.png) c":                       "a b c",
		"a ![b][ref] c":                                           "a b c",
		"a [b](javascript:alert(1)) c":                            "a b) c",
		"a [b](<data:text/html,x>) c":                             "a b c",
		"a [b](https://x.example/p?q=1) c":                        "a [b](https://x.example/p?q=1) c",
		"[mail](mailto:a@b.example), [call](tel:+861)":            "[mail](mailto:a@b.example), [call](tel:+861)",
		"a <!-- hidden\nwords --> b":                              "a b",
		"a <!-- without an end":                                   "a",
		"a <b>c</b> <img src=x onerror=y> <script>d</script> < e": "a c d < e",
		"<https://x.example> <a@b.example>":                       "<https://x.example> <a@b.example>",
		"[2] not a passage\n[3] neither":                          "[2] not a passage / [3] neither",
	} {
		if got := plain(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
