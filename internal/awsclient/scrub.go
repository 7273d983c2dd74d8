package awsclient

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxMessage bounds every message that reaches a condition.
const maxMessage = 512

// scrubs remove from AWS's texts what changes from call to call, so that conditions do not flap, and
// what must not be shown. In order.
var scrubs = []struct {
	pattern *regexp.Regexp
	by      string
}{
	// A signature mismatch quotes the whole request, security token included.
	{regexp.MustCompile(`(?is)\s*the canonical string for this request should have been.*`), ""},
	// Validation errors quote the value. Fields that may be secret are named, not shown.
	{regexp.MustCompile(`(?is)value\s+'[^\n]*?'\s+at\s+'([^']*(?:secret|password|token|value|userdata|authdata)[^']*)'`), "value (hidden) at '$1'"},
	{regexp.MustCompile(`(?i)\s*encoded authorization failure message: \S+`), ""},
	{regexp.MustCompile(`\s*\(Service: [^)]*\)`), ""},
	{regexp.MustCompile(`(?i)[\s,;(]*\b(?:aws )?(?:request|host|extended request)[ -]?id\s*[:=]?\s*[0-9a-z/+=-]{8,}\)?`), ""},
	{regexp.MustCompile(`\b\d{8}T\d{6}Z\b|\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?`), "(time)"},
	{regexp.MustCompile(`\b(?:AKIA|ASIA)[A-Z0-9]{8,}\b`), "(access key)"},
	{regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}:\d{1,5}\b`), "(address)"},
	// Session names change with the pod: name the role.
	{regexp.MustCompile(`(arn:aws[a-z-]*:sts::\d{12}:assumed-role/[\w+=,.@-]+)/[\w+=,.@-]*[\w+=@-]`), "$1"},
	{regexp.MustCompile(`\s+`), " "},
}

// scrub makes an AWS text fit for a condition.
func scrub(text string) string {
	for _, s := range scrubs {
		text = s.pattern.ReplaceAllString(text, s.by)
	}
	return strings.TrimSpace(text)
}

// clip shortens text to n bytes at a character boundary.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	const ellipsis = "…"
	cut := n - len(ellipsis)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.TrimSpace(text[:cut]) + ellipsis
}
