// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/inspect"
)

// Question is a command of nexusctl that the page asks.
type Question struct {
	Command   string
	Namespace string
	Flags     []string
	Names     []string
	Stdin     string
}

// Ask runs a command of nexusctl that only reads, with the rights of the user. It returns the JSON output of the command, and its notes for
// people. It returns the errors of the command.
type Ask func(context.Context, Question) (answer json.RawMessage, notes string, err error)

// Session holds the texts that the page shows.
type Session struct {
	// Version is that of nexusctl.
	Version string `json:"version"`
	// Context is that of the kubeconfig.
	Context string `json:"context,omitempty"`
	// Namespace is the only one that the page shows; empty for all.
	Namespace string `json:"namespace,omitempty"`
	// Unlisted names kinds that the user may not list and watch, or that the cluster does not have.
	Unlisted []string `json:"unlisted,omitempty"`
}

// Server serves the page and its API.
type Server struct {
	// Files holds the files of the page.
	Files   fs.FS
	Session Session
	Ask     Ask
	Reader  *inspect.Reader
	Feed    *Feed
	// IdleTimeout ends the server when no page was connected for so long; 0 means never.
	IdleTimeout time.Duration
}

// Listen opens a port of the loopback address; 0 chooses a free one.
func Listen(ctx context.Context, port int) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
}

// Serve serves until the context ends or the server was idle for too long. Before the first request it calls ready with the address of
// the page, which has the token in its fragment: browsers send no fragment to any server.
func (s *Server) Serve(ctx context.Context, l net.Listener, ready func(address string)) error {
	host, token := l.Addr().String(), newToken()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{Handler: s.Handler(host, token), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if s.IdleTimeout > 0 {
		s.Feed.whenIdle(ctx, s.IdleTimeout, cancel)
	}
	ready("http://" + host + "/#token=" + token)
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the page: %w", err)
	}
	return nil
}

// Handler answers requests at a host. Only those to the API need the token: the files are the same for everyone.
func (s *Server) Handler(host, token string) http.Handler {
	api := http.NewServeMux()
	api.HandleFunc("GET /api/session", s.session)
	api.HandleFunc("GET /api/feed", s.feed)
	api.HandleFunc("GET /api/tree", s.tree)
	api.HandleFunc("GET /api/object", s.object)
	api.HandleFunc("GET /api/intents", s.intents)
	api.HandleFunc("GET /api/timeline", s.timeline)
	api.HandleFunc("POST /api/plan", s.plan)
	all := http.NewServeMux()
	all.Handle("/api/", authorized(host, token, api))
	all.Handle("/", http.FileServerFS(s.Files))
	return guarded(host, all)
}

// answer is the body of a response. A command that failed has answered with its error, so the status of HTTP is OK.
type answer struct {
	Data  any    `json:"data,omitempty"`
	Notes string `json:"notes,omitempty"`
	Error string `json:"error,omitempty"`
}

func write(w http.ResponseWriter, a answer) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(a) // a browser that has gone away hears nothing
}

// writeResult writes data, or the error in its place.
func writeResult(w http.ResponseWriter, data any, notes string, err error) {
	if err != nil {
		write(w, answer{Error: err.Error()})
		return
	}
	write(w, answer{Data: data, Notes: notes})
}
