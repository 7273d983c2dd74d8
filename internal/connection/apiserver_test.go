// SPDX-License-Identifier: Apache-2.0

package connection

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/nexus-operator/nexus-operator/internal/exit"
)

// silentServer gets requests and answers none before it is released. Each request is announced.
func silentServer(t *testing.T) (address string, came <-chan string, release func()) {
	t.Helper()
	requests, released := make(chan string, 4), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requests <- r.Method
		<-released
	}))
	t.Cleanup(s.Close)
	return s.URL, requests, func() { close(released) }
}

// ask sends a request that does not end with a context, as libraries do.
func ask(t *testing.T, ctx context.Context, method, address string) <-chan error {
	t.Helper()
	c, err := rest.HTTPClientFor(LeadToAPIServer(ctx)(&rest.Config{Host: address}))
	if err != nil {
		t.Fatal(err)
	}
	q, err := http.NewRequestWithContext(context.WithoutCancel(ctx), method, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		answer, err := c.Do(q)
		if err == nil {
			err = answer.Body.Close()
		}
		done <- err
	}()
	return done
}

func TestInterruption_EndsReadsThatHaveNoContext(t *testing.T) {
	address, came, release := silentServer(t)
	defer release()
	ctx, interrupt := context.WithCancel(exit.CountUncut(t.Context()))
	done := ask(t, ctx, http.MethodGet, address)
	<-came
	interrupt()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "cannot be reached") {
			t.Errorf("%v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the read did not end")
	}
}

func TestInterruption_CutsOffNoWriteAndNothingAroundOne(t *testing.T) {
	for method, around := range map[string]bool{http.MethodPatch: false, http.MethodGet: true} {
		address, came, release := silentServer(t)
		ctx, interrupt := context.WithCancel(exit.CountUncut(t.Context()))
		ended := func() {}
		if around {
			_, ended = exit.Uncut(ctx, time.Minute)
		}
		done := ask(t, ctx, method, address)
		<-came
		interrupt()
		select {
		case err := <-done:
			t.Errorf("%s was cut off: %v", method, err)
		case <-time.After(200 * time.Millisecond):
		}
		release()
		if err := <-done; err != nil {
			t.Errorf("%s: %v", method, err)
		}
		ended()
		ended() // counts once
		if exit.IsUncut(ctx) {
			t.Error("it is still under way")
		}
	}
}

func TestInterruption_SaysNothingOfTheReadThatItEnded(t *testing.T) {
	ended := fmt.Errorf("reading Deployment x: %w", context.Canceled)
	lost := errors.New("the ledger was not saved")
	for want, err := range map[string]error{
		"interrupted": ended,
		ended.Error() + "\nthe ledger was not saved": errors.Join(ended, lost),
		lost.Error(): lost,
	} {
		if got := exit.Shortened(exit.CodeInterrupted, err).Error(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := exit.Shortened(exit.CodeFailed, ended); got.Error() != ended.Error() {
		t.Errorf("a failure that is no interruption: %q", got)
	}
}

func TestUnreachable_SaysWhatToCheck(t *testing.T) {
	err := <-ask(t, t.Context(), http.MethodPatch, "http://127.0.0.1:1")
	if err == nil || !strings.Contains(err.Error(), "http://127.0.0.1:1 cannot be reached") || !strings.Contains(err.Error(), "--context") ||
		exit.CodeOf(t.Context(), err) != exit.CodePrecondition {
		t.Errorf("%v", err)
	}
}
