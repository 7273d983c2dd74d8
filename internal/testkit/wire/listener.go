// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// closeTimeout bounds how long Close waits for requests at the backend.
const closeTimeout = 30 * time.Second

// Listener serves HTTP on a free loopback port until it is cut off.
type Listener struct {
	name     string
	listener net.Listener
	server   *http.Server
	closing  context.Context
	cancel   context.CancelFunc

	mu       sync.Mutex
	closed   bool
	inFlight sync.WaitGroup // requests that have been started at the backend
}

// Listen starts a listener that passes its requests to the handler.
func Listen(name string, handle func(*Listener, http.ResponseWriter, *http.Request)) (*Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l := &Listener{name: name, listener: listener}
	l.closing, l.cancel = context.WithCancel(context.Background())
	l.server = &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(l, w, r) }),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	go func() { _ = l.server.Serve(listener) }()
	return l, nil
}

// URL returns the listener's address.
func (l *Listener) URL() string { return "http://" + l.listener.Addr().String() }

// Name returns the name given to Listen.
func (l *Listener) Name() string { return l.name }

// Closing is closed when Close begins.
func (l *Listener) Closing() <-chan struct{} { return l.closing.Done() }

// Enter reports whether a request may still be started at the backend; the caller
// then calls Leave when it has been answered.
func (l *Listener) Enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.inFlight.Add(1)
	return true
}

// Leave ends the section that Enter began.
func (l *Listener) Leave() { l.inFlight.Done() }

// Close cuts every connection at once. A request that had not reached the
// backend never will; for those that had it waits, so that after Close nothing
// changes any more. It may be called twice.
func (l *Listener) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()
	l.cancel()
	err := l.server.Close()
	done := make(chan struct{})
	go func() { l.inFlight.Wait(); close(done) }()
	select {
	case <-done:
		return err
	case <-time.After(closeTimeout):
		return errors.Join(err, errors.New("a request is still at the backend"))
	}
}

// Reset ends the connection of a request so that the client sees "connection
// reset by peer".
func Reset(w http.ResponseWriter) {
	hijacker, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	conn, _, err := hijacker.Hijack()
	if err != nil {
		return // already cut
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// Listeners are the listeners of one proxy. The zero value has none.
type Listeners struct {
	mu  sync.Mutex
	all []*Listener
}

// Listen starts a listener and remembers it.
func (ls *Listeners) Listen(name string, handle func(*Listener, http.ResponseWriter, *http.Request)) (*Listener, error) {
	l, err := Listen(name, handle)
	if err != nil {
		return nil, err
	}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.all = append(slices.DeleteFunc(ls.all, (*Listener).isClosed), l)
	return l, nil
}

// Close closes every listener.
func (ls *Listeners) Close() error {
	ls.mu.Lock()
	all := slices.Clone(ls.all)
	ls.mu.Unlock()
	var errs []error
	for _, l := range all {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

func (l *Listener) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}
