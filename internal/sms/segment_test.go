package sms

import (
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"sluice/internal/chat"
)

// The lengths are those that the carriers publish.
func TestSegmentsAreCountedAsTheNetworksDo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text     string
		encoding Encoding
		want     int
	}{
		"nothing":                            {"", GSM7, 1},
		"160 letters":                        {strings.Repeat("a", 160), GSM7, 1},
		"161 letters":                        {strings.Repeat("a", 161), GSM7, 2},
		"2 × 153":                            {strings.Repeat("a", 306), GSM7, 2},
		"2 × 153 + 1":                        {strings.Repeat("a", 307), GSM7, 3},
		"80 of the extension":                {strings.Repeat("€", 80), GSM7, 1},
		"81 of the extension":                {strings.Repeat("€", 81), GSM7, 2},
		"160 with one of the extension":      {strings.Repeat("a", 159) + "[", GSM7, 2},
		"an escape at the end of the 153":    {strings.Repeat("a", 152) + "{" + strings.Repeat("a", 152), GSM7, 3},
		"an escape in front of the 153":      {strings.Repeat("a", 151) + "{" + strings.Repeat("a", 153), GSM7, 2},
		"all of the extension":               {"\f^{}\\[~]|€", GSM7, 1},
		"Greek capitals and accents":         {"ΔΦΓΛΩΠΨΣΘΞ èéùìòÇ", GSM7, 1},
		"a letter that GSM-7 does not have":  {"ç", UCS2, 1},
		"70 characters":                      {strings.Repeat("您", 70), UCS2, 1},
		"71 characters":                      {strings.Repeat("您", 71), UCS2, 2},
		"2 × 67":                             {strings.Repeat("您", 134), UCS2, 2},
		"2 × 67 + 1":                         {strings.Repeat("您", 135), UCS2, 3},
		"35 of two units":                    {strings.Repeat("😀", 35), UCS2, 1},
		"36 of two units":                    {strings.Repeat("😀", 36), UCS2, 2},
		"a pair at the end of the 67":        {strings.Repeat("😀", 67), UCS2, 3},
		"an accent instead of an apostrophe": {strings.Repeat("a", 70) + "’", UCS2, 2},
	} {
		all, encoding := Split(c.text)
		if encoding != c.encoding || len(all) != c.want {
			t.Errorf("%s: %d segments of %s, want %d of %s", name, len(all), encoding, c.want, c.encoding)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, text := range []string{"", "a€", strings.Repeat("€", 99), strings.Repeat("a", 152) + "[]", strings.Repeat("您", 66) + "😀", "\xff"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		all, encoding := Split(text)
		if strings.Join(all, "") != text {
			t.Fatalf("the segments are not the text: %q", all)
		}
		one, many := oneGSM7, manyGSM7
		if encoding == UCS2 {
			one, many = oneUCS2, manyUCS2
		}
		for i, s := range all {
			size := 0
			for _, r := range s {
				switch {
				case encoding == UCS2:
					size += len(utf16.Encode([]rune{r}))
				case strings.ContainsRune(extension, r):
					size += 2
				default:
					size++
				}
			}
			most := many
			if len(all) == 1 {
				most = one
			}
			if size > most || utf8.ValidString(text) && !utf8.ValidString(s) || len(all) > 1 && s == "" {
				t.Fatalf("segment %d of %q has %d units", i, text, size)
			}
			if i+1 < len(all) && size < many-1 {
				t.Fatalf("segment %d of %q has only %d units", i, text, size)
			}
		}
	})
}

func TestEveryNoticeIsShort(t *testing.T) {
	t.Parallel()
	for _, language := range []string{chat.Chinese, chat.English, "fr"} {
		for _, link := range []string{"", "https://service.example.com/help"} {
			text := Text(language, "ab12-cd34", link)
			if !strings.Contains(text, "ab12-cd34") || !strings.Contains(text, link) || Segments(text) > 1 {
				t.Errorf("%d segments: %s", Segments(text), text)
			}
		}
	}
	if !Fits("") || !Fits("https://service.example.com/help") || Fits("https://example.com/"+strings.Repeat("a", 400)) {
		t.Error("the longest address is judged wrongly")
	}
}
