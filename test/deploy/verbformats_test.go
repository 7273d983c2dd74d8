// SPDX-License-Identifier: Apache-2.0

package deploy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// formatNames are the words for formats in the help of the flags -o and --format.
var formatNames = regexp.MustCompile(`\b(text|wide|markdown|json|yaml|ndjson|name|junit|man)\b`)

// announced are the formats that the help of a verb names, and the flag that chooses one; no flag when there is none.
func announced(cmd *cobra.Command) (flag string, formats []string) {
	for _, flag := range []string{"output", "format"} {
		f := cmd.Flags().Lookup(flag)
		if f == nil {
			continue
		}
		help := regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(f.Usage, "")
		formats := formatNames.FindAllString(help, -1)
		slices.Sort(formats)
		return flag, slices.Compact(formats)
	}
	return "", nil
}

func (x *stage) formats(t *testing.T) {
	x.each(t, func(t *testing.T, cmd *cobra.Command, v verb) {
		flag, formats := announced(cmd)
		if flag == "" {
			return
		}
		if len(formats) < 2 {
			t.Fatalf("the help of --%s names %v", flag, formats)
		}
		h := x.hand(t, x.kube)
		var more []string
		if v.writes {
			more = []string{"--dry-run"}
		}
		for _, format := range formats {
			a := h.run(t, v, credentialsOfAdmin, append(slices.Clone(more), "--"+flag, format)...)
			if a.Code != 0 && !slices.Contains(v.also, a.Code) {
				t.Errorf("--%s %s: exit code %d\n%s\n%s", flag, format, a.Code, a.Out, a.Err)
			}
			if err := parses(format, a.Out, a.Out+a.Err); err != nil {
				t.Errorf("--%s %s: %v\n%s\n%s", flag, format, err, a.Out, a.Err)
			}
		}
		h.wroteNothing(t)
		a := h.run(t, v, credentialsOfAdmin, append(more, "--"+flag, "xml")...)
		if a.Code != 2 || a.Out != "" || !strings.Contains(a.Err, "--"+flag) || !strings.Contains(a.Err, `"xml"`) {
			t.Errorf("an unknown format: exit code %d\n%s\n%s", a.Code, a.Out, a.Err)
		}
		for _, format := range formats {
			if !strings.Contains(a.Err, format) {
				t.Errorf("the refusal of a format does not name %s: %s", format, a.Err)
			}
		}
	})
}

// parses reads an answer in a format. Text may have gone to standard error, where there is nothing to show.
func parses(format, out, said string) error {
	switch format {
	case "json", "ndjson":
		lines := []string{out}
		if format == "ndjson" {
			lines = strings.Split(strings.TrimSpace(out), "\n")
		}
		for _, line := range lines {
			if err := documents(json.NewDecoder(strings.NewReader(line))); err != nil {
				return err
			}
		}
		return nil
	case "yaml":
		return documents(utilyaml.NewYAMLToJSONDecoder(bytes.NewBufferString(out)))
	default:
		if strings.TrimSpace(said) == "" {
			return errors.New("it says nothing")
		}
		return nil
	}
}

// documents reads objects until the end. There must be one at least.
func documents(d interface{ Decode(any) error }) error {
	for n := 0; ; n++ {
		var o map[string]any
		err := d.Decode(&o)
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		}
		if err == nil && len(o) == 0 {
			err = errors.New("an empty object")
		}
		if err != nil {
			return err
		}
	}
}
