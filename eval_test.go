package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// few leaves three of the shipped intents, so that learning takes no time.
const few = "intents:\n" +
	"  - {name: complaint, off: true}\n  - {name: human_agent, off: true}\n  - {name: cancel_order, off: true}\n" +
	"  - {name: change_order, off: true}\n  - {name: return_exchange, off: true}\n  - {name: invoice, off: true}\n" +
	"  - {name: order_track, off: true}\n  - {name: payment, off: true}\n  - {name: account, off: true}\n" +
	"  - {name: promo, off: true}\n  - {name: delivery_info, off: true}\n  - {name: product_info, off: true}\n" +
	"  - {name: greeting, off: true}\n"

func TestEvalJudgesALabelledFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	labels, doc := filepath.Join(dir, "labels.csv"), filepath.Join(dir, "rules.yaml")
	for file, text := range map[string]string{
		labels: "text,intent,lang\n我要退款,refund,zh\nthank you and goodbye,thanks_bye,en\nis the bike shed guarded at night,bikes,en\n",
		doc: few + `  - {name: bikes, examples: [where can I leave my bike, is there a bike rack, the bike shed is locked,
  who has the key of the bike shed, can I charge my e-bike here], template: {zh: 车棚, en: Bikes}}`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"eval", "--rules", doc, "--intents", labels, "--json"}, &out, &errOut); code != 0 {
		t.Fatalf("code %d: %s", code, errOut.String())
	}
	var found struct {
		Intents map[string]struct {
			Messages int
			Accuracy float64
			MacroF1  float64 `json:"macro_f1"`
			Urgent   struct{ Recall, Precision float64 }
		}
		Added []struct {
			Intent   string
			Examples int
		}
		Learnt int
	}
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	all := found.Intents["all"]
	if all.Messages != 3 || all.Accuracy != 1 || all.MacroF1 != 1 || all.Urgent.Recall != 1 || all.Urgent.Precision != 1 || found.Intents["zh"].Messages != 1 {
		t.Errorf("%+v", found.Intents)
	}
	if len(found.Added) != 1 || found.Added[0].Intent != "bikes" || found.Added[0].Examples != 5 || found.Learnt < 1000 || found.Learnt > 4000 {
		t.Errorf("%+v, learnt from %d", found.Added, found.Learnt)
	}
}

func TestEvalSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	labels := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(labels, []byte("text,intent\nhello,nonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--intents", labels}, labels + `:2: intent must be one of the rules', is "nonsense"`},
		{[]string{"--intents", labels + ".none"}, "no such file"},
		{[]string{"--faq", labels}, labels + ":1: must have the columns text and faq_id, has text, intent"},
	} {
		var out, errOut bytes.Buffer
		if code := run(t.Context(), append([]string{"eval"}, c.args...), &out, &errOut); code != 1 || !strings.Contains(errOut.String(), c.want) {
			t.Errorf("%v: code %d: %s", c.args, code, errOut.String())
		}
	}
}
