// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image/png"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// chromium returns the path of the distribution's browser. CI has it; elsewhere, a test is left out without it.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv(extent.Variable) != "" {
		t.Fatal("the tests of the page need Chromium: apt-get install chromium")
	}
	t.Skip("the tests of the page need Chromium: apt-get install chromium")
	return ""
}

// tab is a tab of a real browser that shows the page.
type tab struct {
	*uiPage
	ctx context.Context

	seen     sync.Mutex
	problems []string
	requests int
}

// open opens the page in a browser without a window, until the test ends.
func (p *uiPage) open(t *testing.T) *tab {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("no-pings", true), chromedp.Flag("disable-dev-shm-usage", true))
	browser, stop := chromedp.NewExecAllocator(p.Ctx(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(browser)
	t.Cleanup(end)
	x := &tab{uiPage: p, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil { // the browser ends with the context of the first run
		t.Fatalf("starting %s: %v", chromium(t), err)
	}
	x.watch()
	x.do("opening the page", chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		if _, err := cdp.Call(ctx, t, network.Enable, network.EnableParams{}); err != nil {
			return err
		}
		_, err := cdp.Call(ctx, t, log.Enable, cdp.Empty{})
		return err
	}), chromedp.EmulateViewport(1280, 900), chromedp.Navigate(p.address), chromedp.WaitVisible("#search"))
	return x
}

// watch notes what must not happen: an error of the console, an exception, and a request to anywhere else.
func (x *tab) watch() {
	hear(x, chromedp.Events(x.ctx, runtime.ConsoleAPICalled), func(e runtime.EventConsoleAPICalled) string {
		if e.Type != runtime.ConsoleAPICalledTypeError && e.Type != runtime.ConsoleAPICalledTypeWarning {
			return ""
		}
		b, err := json.Marshal(e.Args)
		return fmt.Sprintf("console: %s %v", b, err)
	})
	hear(x, chromedp.Events(x.ctx, runtime.ExceptionThrown), func(e runtime.EventExceptionThrown) string {
		b, err := json.Marshal(e.ExceptionDetails)
		return fmt.Sprintf("exception: %s %v", b, err)
	})
	hear(x, chromedp.Events(x.ctx, log.EntryAdded), func(e log.EventEntryAdded) string {
		if e.Entry.Level != log.EntryLevelError && e.Entry.Level != log.EntryLevelWarning {
			return ""
		}
		return "log: " + e.Entry.Text + " " + e.Entry.URL
	})
	hear(x, chromedp.Events(x.ctx, network.RequestWillBeSent), func(e network.EventRequestWillBeSent) string {
		x.seen.Lock()
		x.requests++
		x.seen.Unlock()
		if !strings.HasPrefix(e.Request.URL, x.base) || strings.Contains(e.Request.URL, x.token) {
			return "a request to elsewhere, or with the token in its address: " + e.Request.URL
		}
		return ""
	})
}

// hear keeps what a function says of each event.
func hear[E any](x *tab, events iter.Seq2[E, error], say func(E) string) {
	go func() {
		for e, err := range events {
			if err != nil {
				return
			}
			if text := say(e); text != "" {
				x.seen.Lock()
				x.problems = append(x.problems, text)
				x.seen.Unlock()
			}
		}
	}()
}

// sound fails the test when something happened that must not.
func (x *tab) sound() {
	x.Helper()
	x.seen.Lock()
	defer x.seen.Unlock()
	for _, p := range x.problems {
		x.Error(p)
	}
	if x.requests < 4 {
		x.Errorf("only %d requests were seen", x.requests)
	}
}

// do runs actions in the browser.
func (x *tab) do(what string, actions ...chromedp.Action[chromedp.Void]) {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.ctx, 30*time.Second)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		text := x.text()
		x.sound()
		x.Fatalf("%s: %v\nthe page says:\n%s", what, err, text)
	}
}

// text is that of the page.
func (x *tab) text() string {
	ctx, cancel := context.WithTimeout(x.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		return err.Error()
	}
	return text
}

// value evaluates an expression of JavaScript, or awaits it.
func value[T any](x *tab, expression string) T {
	x.Helper()
	ctx, cancel := context.WithTimeout(x.ctx, time.Minute)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		x.Fatalf("%s: %v", expression, err)
	}
	return v
}

// says waits until the page has texts.
func (x *tab) says(texts ...string) {
	x.Helper()
	x.Eventually(30*time.Second, fmt.Sprintf("the page to say %q", texts), func() error {
		text := x.text()
		for _, want := range texts {
			if !strings.Contains(text, want) {
				return fmt.Errorf("no %q in\n%s", want, text)
			}
		}
		return nil
	})
}

// shows goes to a view by its link in the navigation.
func (x *tab) shows(view string) {
	x.Helper()
	x.do("going to "+view, chromedp.Click(fmt.Sprintf(`//header//a[text()=%q]`, view)))
}

// chooses selects a value of a filter, as a person does.
func (x *tab) chooses(selector, choice string) {
	x.Helper()
	value[bool](x, fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.value = %q; e.dispatchEvent(new Event("change", {bubbles: true})); return true })()`, selector, choice))
}

// width gives the window another size.
func (x *tab) width(n int64) {
	x.Helper()
	x.do("resizing", chromedp.EmulateViewport(n, 900))
}

// checked holds the rules of accessibility that the page breaks, and the ones that it keeps.
type checked struct {
	Violations []struct {
		ID    string `json:"id"`
		Nodes []struct {
			HTML    string `json:"html"`
			Failure string `json:"failureSummary"`
		} `json:"nodes"`
	} `json:"violations"`
	Passes []struct {
		ID string `json:"id"`
	} `json:"passes"`
}

// accessible checks the page against the rules of axe, in light and dark, wide and narrow.
func (x *tab) accessible(view string) {
	x.Helper()
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		x.Fatal(err)
	}
	value[bool](x, string(axe)+";true")
	for _, theme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 390} {
			x.width(width)
			x.chooses("#theme", theme)
			found := value[checked](x,
				`axe.run(document, {resultTypes: ["violations"]}).then((r) => ({violations: r.violations, passes: r.passes.map((p) => ({id: p.id}))}))`)
			for _, v := range found.Violations {
				x.Errorf("%s, %s at %d pixels: %s: %+v", view, theme, width, v.ID, v.Nodes)
			}
			if len(found.Passes) < 10 {
				x.Errorf("%s: axe checked %d rules only", view, len(found.Passes))
			}
			over := value[int](x, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
			if over > 0 {
				x.Errorf("%s is %d pixels wider than %d", view, over, width)
			}
		}
	}
	x.width(1280)
	x.chooses("#theme", "light")
}

// picture writes a screenshot for the documentation when NEXUS_UPDATE is set.
func (x *tab) picture(name string) {
	x.Helper()
	value[bool](x, `new Promise((done) => { document.activeElement.blur(); document.querySelector("#graph .box[aria-pressed=true]")?.scrollIntoView({block: "center", inline: "center"}); scrollTo(0, 0); setTimeout(() => done(true), 200) })`)
	shot, err := chromedp.Run(x.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		x.Fatal(err)
	}
	if len(shot) < 5000 {
		x.Errorf("%s has %d bytes", name, len(shot))
	}
	if os.Getenv("NEXUS_UPDATE") == "" {
		return
	}
	if err := os.WriteFile(filepath.Join("../../docs/images", name), x.smaller(shot), 0o600); err != nil {
		x.Fatal(err)
	}
}

// smaller compresses a picture as much as PNG can: the browser compresses quickly.
func (x *tab) smaller(shot []byte) []byte {
	x.Helper()
	picture, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		x.Fatal(err)
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, picture); err != nil {
		x.Fatal(err)
	}
	return out.Bytes()
}
