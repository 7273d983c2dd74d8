// SPDX-License-Identifier: Apache-2.0

package kubeproxy

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"github.com/nexus-operator/nexus-operator/internal/testkit/wire"
)

// watches are the watches under way, and which of them are silent.
type watches struct {
	mu     sync.Mutex
	active map[*watch]bool
	holds  []*hold
}

// watch is one watch that is streaming to its client.
type watch struct {
	call *Call
	cut  chan struct{} // closed by CutWatches
	once sync.Once
}

// hold silences watches until it is released.
type hold struct {
	match    Match
	released chan struct{}
	once     sync.Once
}

// HoldWatches makes watches that match fall silent, those under way and those
// that come: they stay open, but nothing arrives until release is called; then
// everything does. The counts of the match are not used.
func (p *Proxy) HoldWatches(m Match) (release func()) {
	h := &hold{match: m, released: make(chan struct{})}
	p.watches.mu.Lock()
	defer p.watches.mu.Unlock()
	p.watches.holds = append(p.watches.holds, h)
	return h.release
}

// CutWatches ends the watches under way that match, as a dying connection does,
// and returns how many there were.
func (p *Proxy) CutWatches(m Match) int {
	p.watches.mu.Lock()
	defer p.watches.mu.Unlock()
	n := 0
	for w := range p.watches.active {
		if m.matches(w.call) {
			w.once.Do(func() { close(w.cut) })
			n++
		}
	}
	return n
}

func (h *hold) release() { h.once.Do(func() { close(h.released) }) }

// release ends every hold.
func (ws *watches) release() {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, h := range ws.holds {
		h.release()
	}
	ws.holds = nil
}

// held returns a hold that is in force for a call, or nil.
func (ws *watches) held(c *Call) *hold {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for _, h := range ws.holds {
		select {
		case <-h.released:
		default:
			if h.match.matches(c) {
				return h
			}
		}
	}
	return nil
}

func (ws *watches) add(w *watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.active == nil {
		ws.active = map[*watch]bool{}
	}
	ws.active[w] = true
}

func (ws *watches) remove(w *watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	delete(ws.active, w)
}

// stream copies a watch to its client, each piece as soon as it comes.
func (t *transaction) stream(response *http.Response) {
	w := &watch{call: t.call, cut: make(chan struct{})}
	t.proxy.watches.add(w)
	defer t.proxy.watches.remove(w)
	go func() {
		select {
		case <-w.cut:
		case <-t.r.Context().Done():
		}
		response.Body.Close() // ends the copying
	}()
	copyHeader(t.w.Header(), response.Header)
	t.w.WriteHeader(response.StatusCode)
	controller := http.NewResponseController(t.w)
	_ = controller.Flush()
	buffer := make([]byte, 32<<10)
	for {
		n, err := response.Body.Read(buffer)
		if n > 0 {
			if !t.waitForHolds(w) {
				break
			}
			if _, err := t.w.Write(buffer[:n]); err != nil {
				return
			}
			_ = controller.Flush()
		}
		if errors.Is(err, io.EOF) {
			return // the server has ended it
		}
		if err != nil {
			break
		}
	}
	wire.Reset(t.w)
}

// waitForHolds waits while the watch is to be silent; false: it was cut.
func (t *transaction) waitForHolds(w *watch) bool {
	for {
		h := t.proxy.watches.held(t.call)
		if h == nil {
			return true
		}
		select {
		case <-h.released:
		case <-w.cut:
			return false
		case <-t.r.Context().Done():
			return false
		}
	}
}
