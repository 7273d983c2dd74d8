// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/http"
	"strings"
)

// refuseReplication: moto accepts rules for buckets that do not exist or have no versioning, and for the bucket itself.
func (s *s3Service) refuseReplication(ctx context.Context, x *exchange) *answer {
	var in struct {
		Buckets []string `xml:"Rule>Destination>Bucket"`
	}
	if xml.Unmarshal(x.body, &in) != nil {
		return nil // moto refuses it
	}
	for _, arn := range in.Buckets {
		name := arn[strings.LastIndex(arn, ":")+1:]
		found, err := s.ask(ctx, x, http.MethodGet, "/"+name+"?versioning", http.Header{}, nil)
		switch {
		case err != nil:
			return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
		case name == x.bucket:
			return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidRequest", "Destination bucket cannot be the same as the source bucket."})
		case !found.ok():
			return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidRequest", "Destination bucket must exist."})
		case !bytes.Contains(found.body, []byte("<Status>Enabled</Status>")):
			return errorAnswer(x.request, awsError{http.StatusBadRequest, "InvalidRequest", "Destination bucket must have versioning enabled."})
		}
	}
	return nil
}

// refuseSuspension: moto suspends the versioning of a bucket that has replication rules.
func (s *s3Service) refuseSuspension(ctx context.Context, x *exchange) *answer {
	if !bytes.Contains(x.body, []byte("<Status>Suspended</Status>")) {
		return nil
	}
	found, err := s.ask(ctx, x, http.MethodGet, "/"+x.bucket+"?replication", http.Header{}, nil)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	if found.ok() {
		return errorAnswer(x.request, awsError{http.StatusConflict, "InvalidBucketState", "A replication configuration is present on this bucket, so you cannot change the versioning state. " +
			"To change the versioning state, first delete the replication configuration."})
	}
	return nil
}
