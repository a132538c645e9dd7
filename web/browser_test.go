//go:build browser

package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// cure is what to do about a machine without a browser.
const cure = "no Chromium was found: install it (Debian: apt-get install chromium) or put it on the PATH"

// browser is one Chromium with one page.
type browser struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex // guards complaints
	complaints []string
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" && os.Getenv("CI") == "true" {
		t.Fatal(cure)
	}
	if path == "" {
		t.Skip(cure)
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.WindowSize(1280, 860),
	)
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	b := &browser{t: t, ctx: ctx}
	b.do(chromedp.EmulateViewport(1280, 860))
	messages := chromedp.Console(ctx)
	var reader sync.WaitGroup
	reader.Go(func() { b.listen(messages) })
	t.Cleanup(func() { cancel(); reader.Wait() })
	return b
}

// listen notes whatever the page wrote to the console, violations of its policy among it.
func (b *browser) listen(messages iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range messages {
		if err != nil {
			return
		}
		b.mu.Lock()
		b.complaints = append(b.complaints, m.String())
		b.mu.Unlock()
	}
}

func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.complaints) > 0 {
		b.t.Errorf("the browser complains: %s", strings.Join(b.complaints, "; "))
	}
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	must(b.t, chromedp.Do(b.ctx, actions...))
}

// prefer sets the colour scheme, and stills every animation: pictures are of the end of it.
func (b *browser) prefer(scheme string) {
	b.t.Helper()
	_, err := chromedp.Call(b.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
	must(b.t, err)
}

// shoot keeps a picture where the variable SHOTS names a directory.
func (b *browser) shoot(name string) {
	b.t.Helper()
	dir := os.Getenv("SHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	must(b.t, err)
	must(b.t, os.MkdirAll(dir, 0o755))
	must(b.t, os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644))
}

// inside evaluates the body of a function in the widget, whose closed shadow root only
// the debugger can open: "this" is the root.
func inside[T any](b *browser, body string) (result T, err error) {
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	tree, err := chromedp.Call(ctx, dom.GetDocument, dom.GetDocumentParams{Depth: new(int64(-1)), Pierce: new(true)})
	if err != nil {
		return result, err
	}
	root := shadow(tree.Root)
	if root == nil {
		return result, errors.New("the widget is not there")
	}
	node, err := chromedp.Call(ctx, dom.ResolveNode, dom.ResolveNodeParams{BackendNodeID: root.BackendNodeID})
	if err != nil {
		return result, err
	}
	called, err := chromedp.Call(ctx, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: "function() { " + body + " }", ObjectID: node.Object.ObjectID, ReturnByValue: new(true),
	})
	if err != nil {
		return result, err
	}
	if called.ExceptionDetails != nil {
		return result, errors.New(called.ExceptionDetails.Exception.Description)
	}
	if len(called.Result.Value) == 0 {
		return result, nil
	}
	return result, json.Unmarshal(called.Result.Value, &result)
}

func shadow(n *cdp.Node) *cdp.Node {
	if n.LocalName == "sluice-chat" && len(n.ShadowRoots) > 0 {
		return n.ShadowRoots[0]
	}
	for _, child := range n.Children {
		if child.ContentDocument != nil {
			child = child.ContentDocument
		}
		if found := shadow(child); found != nil {
			return found
		}
	}
	return nil
}

// until waits for an expression over the widget's root to become true.
func (b *browser) until(what, expression string) {
	b.t.Helper()
	b.wait(what, func() bool {
		ok, err := inside[bool](b, "return Boolean("+expression+")")
		return err == nil && ok
	})
}

// wait asks again and again until done says so.
func (b *browser) wait(what string, done func() bool) {
	b.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.After(20 * time.Second); !done(); {
		select {
		case <-tick.C:
		case <-deadline:
			panel, err := inside[string](b, "return this.querySelector('.panel')?.outerHTML ?? ''")
			b.mu.Lock()
			defer b.mu.Unlock()
			b.t.Fatalf("waited for %s in vain; the panel is %s (%v); the console says %q", what, panel, err, b.complaints)
		}
	}
}

// count returns how many elements of the widget a selector meets.
func (b *browser) count(selector string) int {
	b.t.Helper()
	n, err := inside[int](b, "return this.querySelectorAll("+quoted(selector)+").length")
	must(b.t, err)
	return n
}

// write types a message and sends it with Enter.
func (b *browser) write(text string) {
	b.t.Helper()
	b.compose(text)
	b.enter(13)
	if left, err := inside[string](b, "return this.querySelector('.write textarea').value"); err != nil || left != "" {
		b.t.Errorf("%q is left in the input (%v)", left, err)
	}
}

func (b *browser) compose(text string) {
	b.t.Helper()
	_, err := inside[bool](b, "this.querySelector('.write textarea').focus()")
	must(b.t, err)
	_, err = chromedp.Call(b.ctx, input.InsertText, input.InsertTextParams{Text: text})
	must(b.t, err)
}

// enter presses Enter; an input method that takes the key for itself gives it the code 229.
func (b *browser) enter(code int64) {
	b.t.Helper()
	down := input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "Enter", Code: "Enter", WindowsVirtualKeyCode: code}
	if code == 13 {
		down.Text = "\r"
	}
	_, err := chromedp.Call(b.ctx, input.DispatchKeyEvent, down)
	must(b.t, err)
	up := down
	up.Type, up.Text = input.DispatchKeyEventTypeKeyUp, ""
	_, err = chromedp.Call(b.ctx, input.DispatchKeyEvent, up)
	must(b.t, err)
}

func quoted(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(raw)
}
