// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"fmt"
	"regexp"
)

// firstMatch returns the first group of the first match, or "".
func firstMatch(pattern *regexp.Regexp, text []byte) string {
	if m := pattern.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

// allMatches returns the first group of each match.
func allMatches(pattern *regexp.Regexp, text []byte) []string {
	var out []string
	for _, m := range pattern.FindAllSubmatch(text, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// list gives the strings of a value that is one or has several.
func list(v any) []string {
	switch t := v.(type) {
	case string:
		return []string{t}
	case bool:
		return []string{fmt.Sprint(t)}
	case []any:
		var out []string
		for _, e := range t {
			out = append(out, fmt.Sprint(e))
		}
		return out
	}
	return nil
}

// xmlTag is a tag of EC2, or of Route 53.
type xmlTag struct {
	LowerKey   string `xml:"key"`
	LowerValue string `xml:"value"`
	Key        string `xml:"Key"`
	Value      string `xml:"Value"`
}

func tagsOfXML(all []xmlTag) []map[string]string {
	var out []map[string]string
	for _, t := range all {
		out = append(out, map[string]string{"Key": t.LowerKey + t.Key, "Value": t.LowerValue + t.Value})
	}
	return out
}
