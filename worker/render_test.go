package worker

import (
	"html"
	"regexp"
	"strings"
	"testing"
)

var (
	anyTag   = regexp.MustCompile(`<[^>]*>`)
	plainTag = regexp.MustCompile(`^</?(p|strong|em|ul|ol|li|code|pre|blockquote|a)>$|^<br ?/?>$`)
	linkTag  = regexp.MustCompile(`^<a href="((?:https?|mailto|tel):[^"<>]*)" rel="[a-z ]*"(?: target="_blank")?>$`)
)

// wantHarmless fails unless the HTML holds nothing but text, structure and safe links.
func wantHarmless(t *testing.T, markdown, out string) {
	t.Helper()
	for _, tag := range anyTag.FindAllString(out, -1) {
		if !plainTag.MatchString(tag) && !linkTag.MatchString(tag) {
			t.Fatalf("%q renders to %q, which holds %s", markdown, out, tag)
		}
	}
	if rest := anyTag.ReplaceAllString(out, ""); strings.ContainsAny(rest, "<>") {
		t.Fatalf("%q renders to %q, which holds a bare < or >", markdown, out)
	}
}

// attacks are replies that a model may be led to write.
var attacks = []string{
	"<script>alert(1)</script>",
	"<SCRIPT SRC=https://evil.example/x.js></SCRIPT>",
	"您好 <script>alert('订单')</script> 再见",
	"<img src=x onerror=alert(1)>",
	"![x](https://evil.example/pixel.png)",
	"![跟踪](javascript:alert(1))",
	"[click](javascript:alert(1))",
	"[点这里](JaVaScRiPt:alert(1))",
	"[click](java\tscript:alert(1))",
	"[click](java&#x73;cript:alert(1))",
	"[click](&#106;avascript:alert(1))",
	"[click](%6aavascript:alert(1))",
	"[click]( javascript:alert(1))",
	"[click](<javascript:alert(1)>)",
	"[click](vbscript:msgbox(1))",
	"[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
	"[click](data:image/svg+xml,<svg/onload=alert(1)>)",
	"[click](file:///etc/passwd)",
	"[click](//evil.example)",
	"[click](/admin?delete=all)",
	"[a][b]\n\n[b]: javascript:alert(1)",
	"[a](https://x.example \"\\\" onmouseover=alert(1) x=\\\"\")",
	"[a](https://x.example/\"onmouseover=\"alert(1))",
	"<javascript:alert(1)>",
	"<data:text/html,x>",
	"<https://x.example/<script>>",
	"<a href=\"javascript:alert(1)\">x</a>",
	"<a href=\"https://x.example\" onclick=\"alert(1)\" style=\"position:fixed\">x</a>",
	"<iframe src=https://evil.example></iframe>",
	"<svg><script>alert(1)</script></svg>",
	"<math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
	"<style>body{display:none}</style>",
	"<form action=https://evil.example><input name=card></form>",
	"<meta http-equiv=refresh content=0;url=https://evil.example>",
	"<!-- --!><script>alert(1)</script -->",
	"<![CDATA[<script>alert(1)</script>]]>",
	"<?php echo 1 ?><script>alert(1)</script>",
	"```<script>\nalert(1)\n```",
	"```html\" onclick=\"alert(1)\n<script>alert(1)</script>\n```",
	"`<script>alert(1)</script>`",
	"# <script>alert(1)</script>\n\n> <img src=x onerror=alert(1)>",
	"- <script>alert(1)</script>\n- [x](javascript:alert(1))",
	"**<b onmouseover=alert(1)>粗体</b>**",
	"&lt;script&gt;alert(1)&lt;/script&gt;",
	"\x00<script>alert(1)</script>\xff",
	"<scr\x00ipt>alert(1)</scr\x00ipt>",
	"[click](javascript&colon;alert(1))",
	"[click](java&Tab;script:alert(1))",
	"[click](java&NewLine;script&#58;alert(1))",
	"[查看订单](ｊａｖａｓｃｒｉｐｔ:alert(1))",
	"[退款](javascript：alert(1))",
	"[领取红包](https://shop.example@evil.example/登录)",
	"[click](https://user:javascript@evil.example)",
	"[click](http:alert(1))",
	"[click](blob:https://evil.example/x)",
	"[click](intent://evil#Intent;scheme=javascript;end)",
	"[click](wyciwyg://javascript:alert(1))",
	"[\u202ejs.lautca\u202c](https://evil.example)",
	"<details open ontoggle=alert(1)>详情</details>",
	"<video><source onerror=alert('视频')></video>",
	"<object data=data:text/html,<script>alert(1)</script>>",
	"<base href=https://evil.example><a href=x>点</a>",
	"<a href=\"&#x6A;avascript:alert(1)\">客服</a>",
	"[a](<https://x.example\" onfocus=alert(1) autofocus=\">)",
	"| a |\n|---|\n| <img src=x onerror=alert(1)> |",
	"[^1]: <script>alert(1)</script>\n\n注[^1]",
	"~~<svg/onload=alert(1)>~~",
	"[x](tel:<script>alert(1)</script>)",
	"[x](mailto:a@x.example?body=<script>alert(1)</script>)",
}

func TestNoAttackSurvivesRendering(t *testing.T) {
	t.Parallel()
	w := newWorker(t, nil, Config{})
	for _, markdown := range attacks {
		out := w.render(markdown)
		wantHarmless(t, markdown, out)
		for _, tag := range anyTag.FindAllString(out, -1) {
			if lower := strings.ToLower(html.UnescapeString(tag)); strings.Contains(lower, "script:") || strings.Contains(lower, "data:") || strings.Contains(lower, "evil.example@") || strings.Contains(lower, "@evil.example") || strings.Contains(lower, "onmouseover=\"") {
				t.Errorf("%q renders to %q", markdown, out)
			}
		}
	}
}

func TestRenderingKeepsStructureAndLinks(t *testing.T) {
	t.Parallel()
	const rel = `rel="nofollow noreferrer noopener" target="_blank"`
	w := newWorker(t, nil, Config{})
	for markdown, want := range map[string]string{
		"":                                      "",
		"hello":                                 "<p>hello</p>",
		"**粗体** *斜体*":                           "<p><strong>粗体</strong> <em>斜体</em></p>",
		"1 < 2 & 3":                             "<p>1 &lt; 2 &amp; 3</p>",
		"- a\n- b":                              "<ul>\n<li>a</li>\n<li>b</li>\n</ul>",
		"1. a":                                  "<ol>\n<li>a</li>\n</ol>",
		"> q":                                   "<blockquote>\n<p>q</p>\n</blockquote>",
		"`x`":                                   "<p><code>x</code></p>",
		"```go\nx < y\n```":                     "<pre><code>x &lt; y\n</code></pre>",
		"line\\\nbreak":                         "<p>line<br>\nbreak</p>",
		"[订单](https://x.example/a?b=1&c=2)":     `<p><a href="https://x.example/a?b=1&amp;c=2" ` + rel + `>订单</a></p>`,
		"[mail](mailto:a@x.example)":            `<p><a href="mailto:a@x.example" rel="nofollow noreferrer">mail</a></p>`,
		"[call](tel:+8613800138000)":            `<p><a href="tel:+8613800138000" rel="nofollow noreferrer">call</a></p>`,
		"<p>Your order has shipped</p>":         "<p>Your order has shipped</p>",
		"Hello\n<div>**in** between</div>\nbye": "<p>Hello\n<strong>in</strong> between\nbye</p>",
		"<div>\n- one\n- two\n</div>":           "<p></p>\n<ul>\n<li>one</li>\n<li>two\n</li>\n</ul>",
		"<https://x.example>":                   `<p><a href="https://x.example" ` + rel + `>https://x.example</a></p>`,
	} {
		if got := w.render(markdown); got != want {
			t.Errorf("%q renders to\n%s, want\n%s", markdown, got, want)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, s := range attacks {
		f.Add(s)
	}
	w := newWorker(f, nil, Config{})
	f.Fuzz(func(t *testing.T, s string) { wantHarmless(t, s, w.render(s)) })
}
