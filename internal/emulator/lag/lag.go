// SPDX-License-Identifier: Apache-2.0

// Package lag says how reads of AWS lag behind writes.
package lag

import "time"

// Lag describes how the reads of AWS lag behind its writes, and how its answers differ from those of an emulator in other ways. The zero
// value is an AWS without lag: each read shows all earlier writes. Errors, failed requests and data (objects, items, messages) do not lag.
type Lag struct {
	// NotFound lets reads of an existing resource answer that it does not exist.
	NotFound NotFoundLag
	// Tags lets reads of tags answer with the tags before the write, or with none.
	Tags TagLag
	// Settings lets a read answer as the same request did before the last write to the
	// resource. Without such an answer the read answers truly.
	Settings Window
	// Lists is the same for reads that name no resource, after any write to the service.
	Lists Window
	// Deleted lets reads of a deleted resource answer as they did before the deletion.
	Deleted Window

	// Services replaces the fields above for single services, by IAM prefix.
	Services map[string]Lag

	// ClockSkew shifts the clock of AWS. Answers carry its time in the Date header, and
	// signed requests that are more than five minutes (S3: fifteen) away from it are
	// refused. Ignored within Services.
	ClockSkew time.Duration
	// UnknownFields adds fields and elements that no SDK knows to answers in JSON and XML.
	// Ignored within Services.
	UnknownFields bool
}

// Window is the time of the lag of reads after a write: until both have passed. The zero value is no time.
type Window struct {
	// Reads is the number of affected answers, counted separately for each read (the
	// operation with its input) and from zero again after each write.
	Reads int
	// Time is measured with the clock of SetClock.
	Time time.Duration
}

// ForReads returns the window of the first n answers to each read after a write.
func ForReads(n int) Window { return Window{Reads: n} }

// ForTime returns the window of that length after a write.
func ForTime(d time.Duration) Window { return Window{Time: d} }

// NotFoundLag says when existing resources are reported as missing, with the
// service's own error.
type NotFoundLag struct {
	AfterCreate, AfterUpdate Window
	// Alternate lets only every second answer of a read be wrong, beginning with the
	// second: seen, not found, seen.
	Alternate bool
}

// TagLag says how long reads of tags lag behind writes of tags, which include
// the creation of a resource.
type TagLag struct {
	Window
	// Empty lets the answers have no tags; otherwise they have those before the write:
	// none of a new resource, and those of the last answer to the same read, if there was one, of others. Tables and databases of Glue are
	// never shown without parameters, because the operator uses the parameters as tags.
	Empty bool
}

// LikeAWS returns all of it, with the times that AWS's documentation and the
// issues of its clients speak of: seconds, for attributes of queues a minute.
// The clock is one hour ahead.
func LikeAWS() Lag {
	l := Lag{
		NotFound: NotFoundLag{AfterCreate: ForTime(3 * time.Second), AfterUpdate: ForTime(2 * time.Second), Alternate: true},
		Tags:     TagLag{Window: ForTime(5 * time.Second), Empty: true},
		Settings: ForTime(3 * time.Second),
		Lists:    ForTime(3 * time.Second),
		Deleted:  ForTime(2 * time.Second),
	}
	queues := l
	queues.Settings = ForTime(time.Minute)
	l.Services = map[string]Lag{"sqs": queues}
	l.ClockSkew, l.UnknownFields = time.Hour, true
	return l
}

// InReads returns the same lag with each window expressed as n answers instead of time, for tests without the passing of time.
func (l Lag) InReads(n int) Lag {
	for _, w := range []*Window{&l.NotFound.AfterCreate, &l.NotFound.AfterUpdate, &l.Tags.Window, &l.Settings, &l.Lists, &l.Deleted} {
		if *w != (Window{}) {
			*w = ForReads(n)
		}
	}
	services := map[string]Lag{}
	for name, s := range l.Services {
		services[name] = s.InReads(n)
	}
	l.Services = services
	return l
}

// Of returns the lag of one service.
func (l Lag) Of(service string) Lag {
	if s, ok := l.Services[service]; ok {
		return s
	}
	return l
}

// RemembersAnswers reports whether some reads answer as they did before a write.
func (l Lag) RemembersAnswers() bool {
	none := Window{}
	return l.Settings != none || l.Lists != none || l.Deleted != none || l.Tags.Window != none
}
