// SPDX-License-Identifier: Apache-2.0

package proxy

import "regexp"

// FirstMatch returns the first group of the first match, or "".
func FirstMatch(pattern *regexp.Regexp, text []byte) string {
	if m := pattern.FindSubmatch(text); m != nil {
		return string(m[1])
	}
	return ""
}

// AllMatches returns the first group of each match.
func AllMatches(pattern *regexp.Regexp, text []byte) []string {
	var out []string
	for _, m := range pattern.FindAllSubmatch(text, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// XMLTag is a tag of EC2, or of Route 53.
type XMLTag struct {
	LowerKey   string `xml:"key"`
	LowerValue string `xml:"value"`
	Key        string `xml:"Key"`
	Value      string `xml:"Value"`
}

// TagsOfXML gives tags in the form of the tagging API.
func TagsOfXML(all []XMLTag) []map[string]string {
	var out []map[string]string
	for _, t := range all {
		out = append(out, map[string]string{"Key": t.LowerKey + t.Key, "Value": t.LowerValue + t.Value})
	}
	return out
}
