package web_test

import (
	"bytes"
	"regexp"
	"testing"

	"sluice/web"
)

// What a page loads for the widget, in bytes: as it is, and as it travels.
const (
	most     = 50_000
	mostGzip = 20_000
)

func TestWidgetIsOneSmallScript(t *testing.T) {
	t.Parallel()
	f, err := web.Served("widget.js")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes, %d compressed", len(f.Content), len(f.Gzip))
	if len(f.Content) > most || len(f.Gzip) > mostGzip || f.Gzip == nil {
		t.Errorf("the widget has %d bytes, %d compressed; at most %d and %d", len(f.Content), len(f.Gzip), most, mostGzip)
	}
	if again := regexp.MustCompile(`(^|[;}])import\b[^.]`).Find(f.Content); again != nil {
		t.Errorf("the script loads more: %s", again)
	}
	for _, forbidden := range []string{"innerHTML", "eval(", "document.write"} {
		if bytes.Contains(f.Content, []byte(forbidden)) {
			t.Errorf("the script holds %s", forbidden)
		}
	}
}
