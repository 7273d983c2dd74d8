package awsproxy

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Endpoint is one listener of a proxy. All endpoints share ledger and faults;
// an operator that is to be killed gets one of its own, so that closing it
// keeps its late requests from having any effect.
type Endpoint struct {
	name     string
	proxy    *Proxy
	listener net.Listener
	server   *http.Server
	closing  context.Context // ends with Close
	cancel   context.CancelFunc

	mu       sync.Mutex
	closed   bool
	inFlight sync.WaitGroup // requests that have been started at the emulator
}

// Listen opens a further listener. The name is recorded with every request that
// comes by it.
func (p *Proxy) Listen(name string) (*Endpoint, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &Endpoint{name: name, proxy: p, listener: listener}
	e.closing, e.cancel = context.WithCancel(context.Background())
	e.server = &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(e, w, r) }),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          discardLog,
	}
	p.mu.Lock()
	p.endpoints[e] = true
	p.mu.Unlock()
	go func() { _ = e.server.Serve(listener) }()
	return e, nil
}

// URL returns the endpoint's address for AWS_ENDPOINT_URL.
func (e *Endpoint) URL() string { return "http://" + e.listener.Addr().String() }

// Name returns the name given to Listen.
func (e *Endpoint) Name() string { return e.name }

// Close cuts every connection at once. A request that had not reached the
// emulator never will; for those that had it waits, so that after Close nothing
// changes any more.
func (e *Endpoint) Close() error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	err := e.server.Close()
	done := make(chan struct{})
	go func() { e.inFlight.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		err = errors.Join(err, errors.New("a request is still at the emulator after 30 s"))
	}
	e.proxy.mu.Lock()
	delete(e.proxy.endpoints, e)
	e.proxy.mu.Unlock()
	return err
}

// enter says whether a request may still be started.
func (e *Endpoint) enter() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.inFlight.Add(1)
	return true
}

func (e *Endpoint) leave() { e.inFlight.Done() }
