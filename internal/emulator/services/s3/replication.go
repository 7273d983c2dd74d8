// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/http"
	"strings"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// refuseReplication: moto accepts rules for buckets that do not exist or have no versioning, and for the bucket itself.
func (s *Service) refuseReplication(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	var in struct {
		Buckets []string `xml:"Rule>Destination>Bucket"`
	}
	if xml.Unmarshal(x.Body, &in) != nil {
		return nil // moto refuses it
	}
	for _, arn := range in.Buckets {
		name := arn[strings.LastIndex(arn, ":")+1:]
		found, err := s.Ask(ctx, x, http.MethodGet, "/"+name+"?versioning", http.Header{}, nil)
		switch {
		case err != nil:
			return proxy.ProxyError(x, err)
		case name == x.Bucket:
			return x.Refuse(http.StatusBadRequest, "InvalidRequest", "Destination bucket cannot be the same as the source bucket.")
		case !found.OK():
			return x.Refuse(http.StatusBadRequest, "InvalidRequest", "Destination bucket must exist.")
		case !bytes.Contains(found.Body, []byte("<Status>Enabled</Status>")):
			return x.Refuse(http.StatusBadRequest, "InvalidRequest", "Destination bucket must have versioning enabled.")
		}
	}
	return nil
}

// refuseSuspension: moto suspends the versioning of a bucket that has replication rules.
func (s *Service) refuseSuspension(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	if !bytes.Contains(x.Body, []byte("<Status>Suspended</Status>")) {
		return nil
	}
	found, err := s.Ask(ctx, x, http.MethodGet, "/"+x.Bucket+"?replication", http.Header{}, nil)
	if err != nil {
		return proxy.ProxyError(x, err)
	}
	if found.OK() {
		return x.Refuse(http.StatusConflict, "InvalidBucketState",
			"A replication configuration is present on this bucket, so you cannot change the versioning state. "+
				"To change the versioning state, first delete the replication configuration.")
	}
	return nil
}
