// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

const (
	// pace is the shortest time between two messages, so that a burst of changes is one message.
	pace = 200 * time.Millisecond
	// heartbeat is the time until a stream without changes sends a comment. The comment shows whether the page is still there.
	heartbeat = 30 * time.Second
)

// feed streams the rows and their changes as server-sent events.
// https://html.spec.whatwg.org/multipage/server-sent-events.html
func (s *Server) feed(w http.ResponseWriter, q *http.Request) {
	out := http.NewResponseController(w)
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	heard := s.Feed.subscribe()
	defer s.Feed.unsubscribe(heard)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		text := []byte(": still here\n\n")
		select {
		case <-q.Context().Done():
			return
		case <-beat.C:
		case <-heard.changed:
			b, err := json.Marshal(heard.take())
			if err != nil {
				return
			}
			text = fmt.Appendf(nil, "data: %s\n\n", b)
		}
		if _, err := w.Write(text); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-q.Context().Done():
			return
		case <-time.After(pace):
		}
	}
}
