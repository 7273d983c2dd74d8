// SPDX-License-Identifier: Apache-2.0

package appmodel

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// secretWords are words of the names of variables that hold secrets. KEY counts only as the last word.
var secretWords = []string{"PASSWORD", "PASSWD", "PASS", "PWD", "PASSPHRASE", "SECRET", "SECRETS", "TOKEN", "APIKEY", "CREDENTIAL",
	"CREDENTIALS", "DSN"}

// plainEndings are last words of names that describe a secret and do not hold it.
var plainEndings = []string{"FILE", "PATH", "DIR", "NAME", "ARN", "TTL", "LIMIT", "LENGTH", "SIZE", "COUNT", "EXPIRY", "EXPIRE", "EXPIRES",
	"EXPIRATION", "HOURS", "MINUTES", "SECONDS", "DAYS",
	"ENABLED", "TYPE", "ALGORITHM", "HEADER", "PREFIX", "PER", "MAX", "MIN", "REQUIRED", "ISSUER", "AUDIENCE"}

// isSecretName reports whether a variable of this name is likely to hold a secret.
func isSecretName(name string) bool {
	words := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if slices.Contains(plainEndings, last) {
		return false
	}
	if last == "KEY" || last == "KEYS" || strings.HasSuffix(last, "APIKEY") {
		return true
	}
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains(secretWords, w) || strings.HasSuffix(w, "PASSWORD") || strings.HasSuffix(w, "SECRET") || len(w) > 5 &&
			strings.HasSuffix(w, "TOKEN")
	})
}

// secretForms match texts that providers give out as credentials, and pairs of a name and a secret in a longer text.
var secretForms = regexp.MustCompile(`(?i)(\bsk-[a-z0-9_-]{8,}|\bA(KI|SI)A[0-9A-Z]{12,}|\bgh[pousr]_[a-z0-9]{16,}|\bgithub_pat_|\bglpat-|\bxox[abprs]-|\bhf_[a-z0-9]{16,}|\bAIza[a-z0-9_-]{20,}|\beyJ[a-z0-9_-]{8,}\.|` +
	`-----BEGIN|\bbearer\s+\S{8,}|\bbasic\s+[a-z0-9+/=]{8,}|\b(password|passwd|pwd|secret|token|api[_-]?key|accountkey|accesskey|signature|auth)\s*[=:]\s*[^\s&;,]+)`)

// isSecretValue reports whether a text is likely to be or to contain a secret.
func isSecretValue(text string) bool {
	return secretForms.MatchString(text) || hasPasswordInURL(text) || slices.ContainsFunc(strings.Fields(text), isRandom)
}

var userinfo = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s/@]*:[^\s/]+@`)

// hasPasswordInURL reports whether a text has a URL with a password, such as that of a database.
func hasPasswordInURL(text string) bool {
	if userinfo.MatchString(text) {
		return true
	}
	u, err := url.Parse(text)
	if err != nil || u.User == nil {
		return false
	}
	_, has := u.User.Password()
	return has
}

// isRandom reports whether a word looks like a random value: long, with letters and digits, and without the marks of names and paths.
func isRandom(word string) bool {
	letters, digits := 0, 0
	for _, r := range word {
		switch {
		case r >= '0' && r <= '9':
			digits++
		case unicode.IsLetter(r):
			letters++
		case r == '+', r == '=', r == '-', r == '_':
		default:
			return false
		}
	}
	return len(word) >= 20 && letters >= 4 && digits >= 4
}

// IsSecret reports whether a variable is likely to hold a secret, by its name or its value.
func IsSecret(name, value string) bool { return isSecretName(name) || isSecretValue(value) }

// maxShown bounds the texts that notes quote.
const maxShown = 60

// Shown returns a text for a note: short, and without anything that may be a secret.
func Shown(text string) string {
	words := strings.Fields(text)
	if isSecretValue(text) || MayHaveSecret(words) {
		return "(not shown: it may have a secret)"
	}
	out := []rune(strings.Join(words, " "))
	if len(out) > maxShown {
		return string(out[:maxShown]) + "…"
	}
	return string(out)
}

// secretOptions are options of common programs that take a password.
var secretOptions = []string{"-a", "-p", "-u", "--user", "--pass", "-w"}

// attachedPassword matches the option of MySQL's programs with the password behind it.
var attachedPassword = regexp.MustCompile(`^-p[^0-9=]`)

// MayHaveSecret reports whether a command line may contain a secret, which then must not be written.
func MayHaveSecret(line []string) bool {
	words := strings.Fields(strings.Join(line, " "))
	for i, w := range words {
		name, value, pair := strings.Cut(strings.Trim(w, `"'`), "=")
		switch {
		case isSecretValue(w), strings.Contains(w, "${"), attachedPassword.MatchString(w):
			return true
		case pair && value != "" && isSecretName(strings.TrimLeft(name, "-")):
			return true
		case i > 0 && isSecretOption(words[i-1]) && strings.Trim(w, "0123456789") != "":
			return true
		}
	}
	return false
}

// isSecretOption reports whether the word behind an option is likely to be a password.
func isSecretOption(word string) bool {
	return strings.HasPrefix(word, "-") && (isSecretName(strings.TrimLeft(word, "-")) || slices.Contains(secretOptions, word))
}
