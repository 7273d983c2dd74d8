// SPDX-License-Identifier: Apache-2.0

package world

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

// AuditEvent is one request that the API server has answered (or, for a watch,
// begun to answer).
type AuditEvent struct {
	Time        time.Time
	User        string
	UserAgent   string
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection
	Group       string
	Resource    string // empty for requests that are not about a resource
	Subresource string
	Namespace   string
	Name        string
	URI         string
	Code        int
}

// Write reports whether the request could have changed anything.
func (e AuditEvent) Write() bool {
	return slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb)
}

// String gives the request as `patch nexuscapabilities/status ns/name 200`.
func (e AuditEvent) String() string {
	if e.Resource == "" {
		return fmt.Sprintf("%s %s %d", e.Verb, e.URI, e.Code)
	}
	resource, name := e.Resource, e.Name
	if e.Subresource != "" {
		resource += "/" + e.Subresource
	}
	if e.Namespace != "" {
		name = e.Namespace + "/" + name
	}
	return fmt.Sprintf("%s %s %s %d", e.Verb, resource, name, e.Code)
}

// AuditFilter selects events; an empty field selects all.
type AuditFilter struct {
	UserAgent string   // part of the user agent
	User      string   // part of the user's name
	Verbs     []string // any of these
	Resource  string   // plural name; "resource/subresource" for a subresource, "resource/*" for both
	Namespace string
	Writes    bool // only those that could change something
}

// AuditMark is a point in the audit log.
type AuditMark int64

// Audit reads the API server's audit log.
type Audit struct {
	path   string
	config *rest.Config
}

// Audit returns a reader of the audit log.
func (w *World) Audit() *Audit { return &Audit{w.components.file("audit.log"), w.cluster.config} }

// Mark returns the present end of the log: whatever was answered before the
// call lies before it.
func (a *Audit) Mark() (AuditMark, error) {
	end, err := a.settle()
	return AuditMark(end), err
}

// Since returns the events after a mark (0: all) that match a filter, complete
// up to the call.
func (a *Audit) Since(mark AuditMark, filter AuditFilter) ([]AuditEvent, error) {
	end, err := a.settle()
	if err != nil {
		return nil, err
	}
	text, err := a.read(int64(mark), end)
	if err != nil {
		return nil, err
	}
	var events []AuditEvent
	scanner := bufio.NewScanner(bytes.NewReader(text))
	scanner.Buffer(nil, 1<<20)
	for scanner.Scan() {
		e, stage, err := parseAudit(scanner.Bytes())
		if err != nil {
			return nil, err
		}
		// A watch is logged when it begins and when it ends: it counts once.
		ended := e.Verb == "watch" && stage == "ResponseComplete"
		if !ended && e.UserAgent != settleAgent && filter.match(e) {
			events = append(events, e)
		}
	}
	return events, scanner.Err()
}

// Count returns the number of events after a mark that match a filter.
func (a *Audit) Count(mark AuditMark, filter AuditFilter) (int, error) {
	events, err := a.Since(mark, filter)
	return len(events), err
}

const settleAgent = "test-bed-audit"

// settle asks the server something unmistakable and waits until that is in the
// log: the server writes an event right after, not before, it has answered.
// It returns the end of that line.
func (a *Audit) settle() (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	token := rand.Text()
	start, err := a.size()
	if err != nil {
		return 0, err
	}
	client, err := rest.HTTPClientFor(a.config)
	if err != nil {
		return 0, err
	}
	if err = get(ctx, client, a.config.Host+"/version?mark="+token, settleAgent); err != nil {
		return 0, fmt.Errorf("marking the audit log: %w", err)
	}
	for ctx.Err() == nil {
		end, err := a.size()
		if err != nil {
			return 0, err
		}
		text, err := a.read(start, end)
		if err != nil {
			return 0, err
		}
		if i := bytes.Index(text, []byte(token)); i >= 0 {
			if line := bytes.IndexByte(text[i:], '\n'); line >= 0 {
				return start + int64(i+line) + 1, nil
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0, errors.New("the mark did not reach the audit log within 10 s")
}

func (a *Audit) size() (int64, error) {
	info, err := os.Stat(a.path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (a *Audit) read(from, to int64) ([]byte, error) {
	f, err := os.Open(a.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, from, max(0, to-from)))
}

func parseAudit(line []byte) (e AuditEvent, stage string, err error) {
	var raw struct {
		Stage, Verb, UserAgent, RequestURI string
		StageTimestamp                     time.Time
		User                               struct{ Username string }
		ResponseStatus                     struct{ Code int }
		ObjectRef                          struct{ Resource, Subresource, Namespace, Name, APIGroup string }
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return AuditEvent{}, "", fmt.Errorf("audit log: %w", err)
	}
	return AuditEvent{
		Time: raw.StageTimestamp, User: raw.User.Username, UserAgent: raw.UserAgent, Verb: raw.Verb,
		Group: raw.ObjectRef.APIGroup, Resource: raw.ObjectRef.Resource, Subresource: raw.ObjectRef.Subresource,
		Namespace: raw.ObjectRef.Namespace, Name: raw.ObjectRef.Name, URI: raw.RequestURI, Code: raw.ResponseStatus.Code,
	}, raw.Stage, nil
}

func (f AuditFilter) match(e AuditEvent) bool {
	return strings.Contains(e.UserAgent, f.UserAgent) &&
		strings.Contains(e.User, f.User) &&
		(len(f.Verbs) == 0 || slices.Contains(f.Verbs, e.Verb)) &&
		(f.Namespace == "" || f.Namespace == e.Namespace) &&
		(!f.Writes || e.Write()) &&
		f.matchResource(e)
}

func (f AuditFilter) matchResource(e AuditEvent) bool {
	resource, subresource, _ := strings.Cut(f.Resource, "/")
	return f.Resource == "" || resource == e.Resource && (subresource == "*" || subresource == e.Subresource)
}
