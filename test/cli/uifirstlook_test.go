// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/nexus-operator/nexus-operator/internal/testkit/docblocks"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// firstLook is the page that leads a reader from the demo to the cause of a trouble.
const firstLook = "docs/first-look.md"

// The commands of the page run as they stand, and the page of nexusctl ui says what the page shows. With NEXUS_UPDATE, the test writes both
// down again.
func TestUI_ShowsTheCauseOnAFirstLook(t *testing.T) {
	extent.Full(t)
	chromium(t)
	x := newTool(t)
	c := x.Capability("examples/test-capability.yaml")
	x.Create(c)
	x.Running(c)
	text, err := os.ReadFile("../../" + firstLook)
	if err != nil {
		t.Fatal(err)
	}
	console, cause := blockOf(t, string(text), "console"), blockOf(t, string(text), "text")
	transcript := ""
	for _, command := range commandsOf(console) {
		transcript += "$ " + command + "\n"
		if strings.HasPrefix(command, "nexusctl ui") { // which goes on in the browser
			transcript += "http://127.0.0.1:41473/#token=…\n"
			continue
		}
		transcript += x.types(command)
	}
	tab := x.startUI(x.World.Kubeconfig()).open(t)
	defer tab.sound()
	tab.chooses("#filter-kind", "S3Bucket")
	tab.says("reports", "Failed")
	tab.do("opening the bucket", chromedp.Click(`//a[text()="reports"]`), chromedp.WaitVisible("#cause"))
	shown := value[string](tab, `document.querySelector("#cause").innerText`)
	shown = strings.TrimSpace(regexp.MustCompile(`\n+`).ReplaceAllString(shown, "\n")) + "\n"
	tab.picture("ui-first-look.png")
	if os.Getenv("NEXUS_UPDATE") != "" {
		next := strings.Replace(strings.Replace(string(text), console, transcript, 1), cause, shown, 1)
		if err := os.WriteFile("../../"+firstLook, []byte(next), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if transcript != console {
		t.Errorf("%s shows\n%s\nand this was printed\n%s", firstLook, console, transcript)
	}
	if shown != cause {
		t.Errorf("%s shows\n%s\nand the page says\n%s", firstLook, cause, shown)
	}
}

// blockOf returns the text of the only block of a language.
func blockOf(t *testing.T, page, language string) string {
	t.Helper()
	for _, b := range docblocks.Of(firstLook, page) {
		if b.Language == language {
			return b.Text
		}
	}
	t.Fatalf("%s has no block of %s", firstLook, language)
	return ""
}

// commandsOf returns the commands of a transcript, with the text that they read up to the line END.
func commandsOf(transcript string) []string {
	var out []string
	reads := false
	for line := range strings.Lines(transcript) {
		typed, prompt := strings.CutPrefix(line, "$ ")
		switch {
		case prompt:
			out, reads = append(out, typed), strings.Contains(typed, "<<'END'")
		case reads:
			out[len(out)-1] += line
			reads = strings.TrimSpace(line) != "END"
		}
	}
	for i := range out {
		out[i] = strings.TrimSuffix(out[i], "\n")
	}
	return out
}

// age is a time that differs between two runs.
var age = regexp.MustCompile(`\b\d+s\b *`)

// types runs a command of the page in a shell, as a reader does in the demo. A wait for the trouble is part of it.
func (x *tool) types(command string) string {
	x.Helper()
	programs, err := world.BinDir()
	if err != nil {
		x.Fatal(err)
	}
	var printed string
	x.Eventually(30*time.Second, fmt.Sprintf("%q to show the state", command), func() error {
		cmd := exec.CommandContext(x.Ctx(), "sh", "-c", command)
		cmd.Dir = "../.."
		cmd.Env = []string{"PATH=" + programs + ":" + filepath.Dir(x.binary()) + ":" + os.Getenv("PATH"), "HOME=" + x.TempDir(),
			"KUBECONFIG=" + x.World.Kubeconfig()}
		out, err := cmd.CombinedOutput()
		if printed = age.ReplaceAllString(string(out), "5s"); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
		if strings.Contains(command, " get ") && !strings.Contains(printed, "NotPermitted") {
			return fmt.Errorf("%s", printed)
		}
		return nil
	})
	return printed
}
