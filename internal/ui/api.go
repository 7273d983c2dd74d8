// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

const (
	// maxManifest bounds a request, in bytes.
	maxManifest = 4 << 20
	// maxTimeline bounds the timeline of a namespace.
	maxTimeline = 1000
)

func (s *Server) session(w http.ResponseWriter, _ *http.Request) {
	session := s.Session
	session.Unlisted = s.Feed.Unlisted()
	write(w, answer{Data: session})
}

// place is an object that a request names.
type place struct {
	kind schema.GroupVersionKind
	key  client.ObjectKey
}

func placeOf(q *http.Request) (place, error) {
	v := q.URL.Query()
	p := place{schema.FromAPIVersionAndKind(v.Get("apiVersion"), v.Get("kind")),
		client.ObjectKey{Namespace: v.Get("namespace"), Name: v.Get("name")}}
	if p.kind.Kind == "" || p.key.Name == "" {
		return p, errors.New("kind and name must say which object is meant")
	}
	return p, nil
}

// argument names the object as the commands do: with version and group, so that a kind of another group is not taken for it.
func (p place) argument() string {
	return fmt.Sprintf("%s.%s.%s/%s", p.kind.Kind, p.kind.Version, p.kind.Group, p.key.Name)
}

// tree answers with the output of nexusctl tree and nexusctl explain for an object.
func (s *Server) tree(w http.ResponseWriter, q *http.Request) {
	p, err := placeOf(q)
	if err == nil && !inspect.IsOurs(p.kind) {
		err = fmt.Errorf("%s is no kind of Nexus Operator", p.kind.Kind)
	}
	if err != nil {
		writeResult(w, nil, "", err)
		return
	}
	question := Question{Command: "tree", Namespace: p.key.Namespace, Names: []string{p.argument()}}
	tree, notes, err := s.Ask(q.Context(), question)
	if err != nil {
		writeResult(w, nil, "", err)
		return
	}
	question.Command = "explain"
	explanation, _, err := s.Ask(q.Context(), question)
	writeResult(w, map[string]json.RawMessage{"tree": tree, "explanation": explanation}, notes, err)
}

func (s *Server) object(w http.ResponseWriter, q *http.Request) {
	p, err := placeOf(q)
	if err != nil {
		writeResult(w, nil, "", err)
		return
	}
	details, err := s.Reader.Details(q.Context(), p.kind, p.key)
	writeResult(w, details, "", err)
}

// namespaceFor is the namespace that a request asks for, within the one that the page shows.
func (s *Server) namespaceFor(q *http.Request) string {
	if s.Session.Namespace != "" {
		return s.Session.Namespace
	}
	return q.URL.Query().Get("namespace")
}

func (s *Server) intents(w http.ResponseWriter, q *http.Request) {
	report, err := s.Reader.Coverage(q.Context(), s.namespaceFor(q))
	writeResult(w, report, "", err)
}

func (s *Server) timeline(w http.ResponseWriter, q *http.Request) {
	found, err := s.Reader.OperatorTimeline(q.Context(), s.namespaceFor(q), maxTimeline)
	writeResult(w, found, "", err)
}

// planInput asks for the plan of an object as it is, or of a manifest.
type planInput struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Namespace  string `json:"namespace"`
	// Manifest is the text of a manifest, which replaces the name.
	Manifest string `json:"manifest"`
	// Delete plans the effects of a deletion of the objects.
	Delete bool `json:"delete"`
	// SkipAWS compares Kubernetes objects only.
	SkipAWS bool `json:"skipAWS"`
}

// plan answers with the output of nexusctl plan.
func (s *Server) plan(w http.ResponseWriter, q *http.Request) {
	var in planInput
	d := json.NewDecoder(http.MaxBytesReader(w, q.Body, maxManifest))
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		writeResult(w, nil, "", fmt.Errorf("reading the request: %w", err))
		return
	}
	question, err := in.question()
	if err != nil {
		writeResult(w, nil, "", err)
		return
	}
	found, notes, err := s.Ask(q.Context(), question)
	writeResult(w, found, notes, err)
}

func (in planInput) question() (Question, error) {
	out := Question{Command: "plan", Namespace: in.Namespace}
	switch {
	case strings.TrimSpace(in.Manifest) != "":
		out.Flags, out.Stdin = []string{"--filename=-"}, in.Manifest
	case in.Kind != "" && in.Name != "":
		p := place{schema.FromAPIVersionAndKind(in.APIVersion, in.Kind), client.ObjectKey{Namespace: in.Namespace, Name: in.Name}}
		out.Names = []string{p.argument()}
	default:
		return out, errors.New("paste or open a manifest, or choose an object")
	}
	if in.Delete {
		out.Flags = append(out.Flags, "--delete")
	}
	if in.SkipAWS {
		out.Flags = append(out.Flags, "--skip-aws")
	}
	return out, nil
}
