// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"bytes"
	"context"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// keptDocuments are the configurations of buckets that lose members in moto, by the operation without its verb: the sizes of lifecycle
// filters and the number of versions to retain, the format of the names of logs, the sending to EventBridge, and all members of a
// replication rule but its destination, status and priority.
var keptDocuments = []string{"BucketLifecycleConfiguration", "BucketLogging", "BucketNotificationConfiguration", "BucketReplication"}

// documentOps are the operations on the kept documents with a verb.
func documentOps(verb string) []string {
	var ops []string
	for _, name := range keptDocuments {
		ops = append(ops, verb+name)
	}
	return ops
}

// keepDocument remembers a configuration that moto accepted, as it was sent.
func (s *Service) keepDocument(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if a.OK() {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		s.documents[documentKey{x.Bucket, x.Op[len("Put"):]}] = asShown(x.Body)
	}
	return a
}

// showDocument answers with the configuration as it was sent, where moto has one.
func (s *Service) showDocument(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if kept := s.documents[documentKey{x.Bucket, x.Op[len("Get"):]}]; a.OK() && kept != nil {
		return a.WithBody(kept)
	}
	return a
}

// forgetDocuments lets a new bucket begin without configurations.
func (s *Service) forgetDocuments(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	if a.OK() {
		s.Mu.Lock()
		defer s.Mu.Unlock()
		for _, name := range keptDocuments {
			delete(s.documents, documentKey{x.Bucket, name})
		}
	}
	return a
}

type documentKey struct{ bucket, name string }

// asShown writes the names of filter rules as S3 does in its answers.
func asShown(document []byte) []byte {
	for _, name := range []string{"prefix", "suffix"} {
		document = bytes.ReplaceAll(document, []byte("<Name>"+name+"</Name>"),
			[]byte("<Name>"+string(bytes.ToTitle([]byte(name[:1])))+name[1:]+"</Name>"))
	}
	return document
}
