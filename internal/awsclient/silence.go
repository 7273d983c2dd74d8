package awsclient

import (
	"errors"
	"time"
)

// silenceAfter is how long a call must have waited in vain for its service to count as silent: far longer
// than any answer takes, and shorter than the transport's patience.
const silenceAfter = 5 * time.Second

// tries is how many calls at a time try a silent service: two, since one alone might be for the one resource
// that is not answered for, and would keep all others waiting.
const tries = 2

// silentError says that a call was not made, because its service has been silent and other calls are trying it.
type silentError struct{}

// Error implements error.
func (*silentError) Error() string {
	return "not tried: the service does not answer, and other calls are trying it"
}

// silence keeps a service that does not answer from taking every worker: each call to it would hold one for
// as long as the transport is patient. Once a call has waited in vain, few at a time try, and all others fail
// at once, until there is an answer, whichever it is.
type silence struct {
	silent bool
	trying int
}

// enter says whether a call may be made, and whether it is one of those that try. What is true is told to leave.
func (b *bucket) enter() (trying bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.silence.silent {
		return false, nil
	}
	if b.silence.trying == tries {
		return false, &silentError{}
	}
	b.silence.trying++
	return true, nil
}

// leave tells how a call ended.
func (b *bucket) leave(trying bool, err error, took time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if trying {
		b.silence.trying--
	}
	switch {
	case err == nil || transport(err) == "": // an answer, or none was asked for
		b.silence.silent = false
	case took >= silenceAfter && transport(err) == noAnswer:
		b.silence.silent = true
	}
}

func isSilent(err error) bool {
	_, ok := errors.AsType[*silentError](err)
	return ok
}
