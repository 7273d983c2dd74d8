// SPDX-License-Identifier: Apache-2.0

package iampolicy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

const (
	// MaxSize is the limit of Parse in bytes. The largest policy that AWS stores is a key policy of 32 KiB;
	// the rest is room for white space, which IAM does not count.
	MaxSize = 128 << 10
	// maxDepth is the limit of nesting. A document needs 6.
	maxDepth = 12
)

// SyntaxError is a document that Parse cannot read.
type SyntaxError struct {
	// Field is the path of the element, such as Statement[0].Action; empty is the whole document.
	Field string
	// Line and Column are the place in the text, in bytes, counted from 1; 0 is unknown.
	Line, Column int
	// Message describes the mistake.
	Message string
}

// Error names the element, the mistake and its place.
func (e *SyntaxError) Error() string {
	text := e.Message
	if e.Field != "" {
		text = e.Field + " " + text
	}
	if e.Line > 0 {
		text += fmt.Sprintf(" (line %d, column %d)", e.Line, e.Column)
	}
	return text
}

// shape is the type of a JSON value, as messages name it.
type shape string

const (
	anObject shape = "an object"
	aList    shape = "a list"
	aString  shape = "a string"
	aNumber  shape = "a number"
	aBoolean shape = "a boolean"
	aNull    shape = "null"
)

// node is a JSON value with its place. Unlike a map it keeps the order of fields.
type node struct {
	shape  shape
	offset int64
	text   string // of a string, number or boolean
	fields []field
	items  []node
}

type field struct {
	name string
	node
}

// reader builds nodes from the tokens of one text.
type reader struct {
	text    string
	decoder *json.Decoder
}

// readJSON reads a text that is one JSON value. No object in it may have a field twice.
func readJSON(text string) (node, *reader, error) {
	r := &reader{text: text, decoder: json.NewDecoder(strings.NewReader(text))}
	if len(text) > MaxSize {
		return node{}, r, &SyntaxError{Message: fmt.Sprintf("has %d bytes, at most %d are allowed", len(text), MaxSize)}
	}
	r.decoder.UseNumber()
	n, err := r.value("", maxDepth)
	if err != nil {
		return n, r, err
	}
	at := r.next()
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return n, r, r.fail("", at, "has text after the end of the JSON value")
	}
	return n, r, nil
}

// next returns the offset of the next value or name.
func (r *reader) next() int64 {
	at := int(r.decoder.InputOffset())
	return int64(len(r.text) - len(strings.TrimLeft(r.text[at:], " \t\r\n,:")))
}

func (r *reader) fail(path string, at int64, format string, args ...any) error {
	before := r.text[:min(at, int64(len(r.text)))]
	return &SyntaxError{
		Field: path, Line: strings.Count(before, "\n") + 1, Column: len(before) - strings.LastIndexByte(before, '\n'),
		Message: fmt.Sprintf(format, args...),
	}
}

func (r *reader) value(path string, depth int) (node, error) {
	n := node{offset: r.next()}
	if depth == 0 {
		return n, r.fail(path, n.offset, "is nested too deeply: at most %d levels are allowed", maxDepth)
	}
	token, err := r.decoder.Token()
	if err != nil {
		return n, r.invalid(path, err)
	}
	switch t := token.(type) {
	case json.Delim:
		if t == '[' {
			return r.list(n, path, depth)
		}
		return r.object(n, path, depth)
	case string:
		n.shape, n.text = aString, t
	case json.Number:
		n.shape, n.text = aNumber, t.String()
	case bool:
		n.shape, n.text = aBoolean, fmt.Sprint(t)
	default:
		n.shape = aNull
	}
	return n, nil
}

func (r *reader) invalid(path string, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return r.fail(path, int64(len(r.text)), "is not valid JSON: the text ends too early")
	}
	return r.fail(path, r.next(), "is not valid JSON: %v", err)
}

func (r *reader) list(n node, path string, depth int) (node, error) {
	n.shape = aList
	for r.decoder.More() {
		item, err := r.value(path+"["+strconv.Itoa(len(n.items))+"]", depth-1)
		if err != nil {
			return n, err
		}
		n.items = append(n.items, item)
	}
	return n, r.close(path)
}

func (r *reader) object(n node, path string, depth int) (node, error) {
	n.shape = anObject
	seen := map[string]bool{}
	for r.decoder.More() {
		at := r.next()
		token, err := r.decoder.Token()
		if err != nil {
			return n, r.invalid(path, err)
		}
		name, _ := token.(string) // the decoder accepts only names before a colon
		if seen[name] {
			return n, r.fail(childPath(path, name), at, "occurs twice")
		}
		seen[name] = true
		v, err := r.value(childPath(path, name), depth-1)
		if err != nil {
			return n, err
		}
		n.fields = append(n.fields, field{name, v})
	}
	return n, r.close(path)
}

func (r *reader) close(path string) error {
	if _, err := r.decoder.Token(); err != nil {
		return r.invalid(path, err)
	}
	return nil
}

func childPath(path, name string) string {
	const most = 64 // a name comes from the user and goes into a condition message
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "…"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

// sameAs compares two values as JSON: the order of fields has no meaning, that of lists has.
func (n node) sameAs(o node) bool {
	if n.shape != o.shape || n.text != o.text || len(n.fields) != len(o.fields) {
		return false
	}
	byName := func(a, b field) int { return strings.Compare(a.name, b.name) }
	same := func(a, b field) bool { return a.name == b.name && a.node.sameAs(b.node) }
	return slices.EqualFunc(slices.SortedFunc(slices.Values(n.fields), byName), slices.SortedFunc(slices.Values(o.fields), byName), same) &&
		slices.EqualFunc(n.items, o.items, node.sameAs)
}
