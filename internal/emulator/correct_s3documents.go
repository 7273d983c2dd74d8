// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
)

// keptDocuments are the configurations of buckets of which moto drops members, by the operation without its verb: the
// sizes of lifecycle filters and the number of versions to retain, the format of the names of logs, the sending to
// EventBridge, and everything of a replication rule but its destination, status and priority.
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
func keepDocument(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if a.ok() {
		p.state.mu.Lock()
		defer p.state.mu.Unlock()
		p.state.documents[documentKey{x.bucket, x.op[len("Put"):]}] = asShown(x.body)
	}
	return a
}

// showDocument answers with the configuration as it was sent, where moto has one.
func showDocument(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	p.state.mu.Lock()
	defer p.state.mu.Unlock()
	if kept := p.state.documents[documentKey{x.bucket, x.op[len("Get"):]}]; a.ok() && kept != nil {
		return a.withBody(kept)
	}
	return a
}

// forgetDocuments lets a new bucket begin without configurations.
func forgetDocuments(_ context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if a.ok() {
		p.state.mu.Lock()
		defer p.state.mu.Unlock()
		for _, name := range keptDocuments {
			delete(p.state.documents, documentKey{x.bucket, name})
		}
	}
	return a
}

type documentKey struct{ bucket, name string }

// asShown writes the names of filter rules as S3 does in its answers.
func asShown(document []byte) []byte {
	for _, name := range []string{"prefix", "suffix"} {
		document = bytes.ReplaceAll(document, []byte("<Name>"+name+"</Name>"), []byte("<Name>"+string(bytes.ToTitle([]byte(name[:1])))+name[1:]+"</Name>"))
	}
	return document
}
