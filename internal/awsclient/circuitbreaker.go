// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"errors"
	"time"
)

// openAfter sets how long a call must have waited for its service without an answer to count as silent: far longer
// than any answer takes, and shorter than the transport's patience.
const openAfter = 5 * time.Second

// maxProbes sets how many calls at a time try a silent service: two, since one alone might be for the one resource
// that is not answered for, and would keep all others waiting.
const maxProbes = 2

// openCircuitError says that a call was not made, because its service has been silent and other calls are trying it.
type openCircuitError struct{}

// Error implements error.
func (*openCircuitError) Error() string {
	return "not tried: the service does not answer, and other calls are trying it"
}

// circuitBreaker keeps a service that does not answer from taking every worker: each call to it would hold one for
// as long as the transport is patient. Once a call has waited without an answer, few at a time try, and all others fail
// at once, until there is an answer, whichever it is.
type circuitBreaker struct {
	open   bool
	probes int
}

// allow reports whether a call may proceed and whether it is a probe; pass the result to done.
func (b *bucket) allow() (trying bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.breaker.open {
		return false, nil
	}
	if b.breaker.probes == maxProbes {
		return false, &openCircuitError{}
	}
	b.breaker.probes++
	return true, nil
}

// done records how a call ended.
func (b *bucket) done(trying bool, err error, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trying {
		b.breaker.probes--
	}
	switch {
	case err == nil || transportFailure(err) == "": // an answer, or none was asked for
		b.breaker.open = false
	case took >= openAfter && transportFailure(err) == noAnswer:
		b.breaker.open = true
	}
}

func isOpenCircuit(err error) bool {
	_, ok := errors.AsType[*openCircuitError](err)
	return ok
}
