// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"regexp"
	"strings"
)

// maxMessage bounds every message that reaches a condition.
const maxMessage = 512

// scrubs remove the parts of AWS's texts that change from call to call, so that conditions do not flap, and the parts that must not be
// shown. In order.
var scrubs = []struct {
	pattern *regexp.Regexp
	by      string
}{
	// A signature mismatch quotes the whole request, security token included.
	{regexp.MustCompile(`(?is)\s*the canonical string for this request should have been.*`), ""},
	// Validation errors quote the value, which may have several lines. Fields that may be secret are named, not shown.
	{regexp.MustCompile(`(?is)value\s+'.*?'\s+at\s+'([^']*(?:secret|password|token|value|userdata|authdata)[^']*)'`),
		"value (hidden) at '$1'"},
	{regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]+-----.*?(?:-----END [A-Z0-9 ]+-----|$)`), "(hidden)"},
	// A name that says secret, and its value: a quoted value, or words of base64 that line breaks may divide.
	{regexp.MustCompile(`(?is)\b((?:aws[ _-]?)?(?:secret[ _-]?access[ _-]?key|secret[ _-]?key|session[ _-]?token|security[ _-]?token|client[ _-]?secret|secret[ _-]?(?:string|binary)|password))\b` +
		`(\\?["']?\s*[:=]\s*)(?:\\"(?:[^"\\]|\\[^"])*\\"|"(?:[^"\\]|\\.)*"|'[^']*'|[\w/+=-]{8,}(?:\s*\n\s*[\w/+=-]{8,})*)`), "$1$2(hidden)"},
	// Base64 in lines, and one too long to be a name.
	{regexp.MustCompile(`(?:[A-Za-z0-9+/]{56,}[ \t]*\r?\n\s*)+[A-Za-z0-9+/]+={0,2}`), "(hidden)"},
	{regexp.MustCompile(`[A-Za-z0-9+/]{200,}={0,2}`), "(hidden)"},
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

// credentialParts match the parts that AWS quotes of a request that it cannot authenticate: the credential, a header, a token, a signature.
var credentialParts = []*regexp.Regexp{
	regexp.MustCompile(`\B'[^']*(?:'|$)`), // no apostrophe
	regexp.MustCompile(`"[^"]*(?:"|$)`),
	regexp.MustCompile(`[A-Za-z0-9+/=_-]{40,}`),
}

// hideCredentials removes from the text of an answer about credentials whatever may be a part of them.
func hideCredentials(text string) string {
	text = scrub(text)
	for _, part := range credentialParts {
		text = part.ReplaceAllString(text, "(hidden)")
	}
	return text
}

// scrub makes an AWS text fit for a condition.
func scrub(text string) string {
	for _, s := range scrubs {
		text = s.pattern.ReplaceAllString(text, s.by)
	}
	return strings.TrimSpace(text)
}
