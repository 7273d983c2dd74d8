// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"net/http"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// outagePause is the pause between tries of an API server that refuses connections.
const outagePause = time.Second

// outageMost bounds how long one read waits for an API server that refuses connections.
const outageMost = time.Minute

// outageTransport retries reads of an API server that refuses connections. Informers otherwise back off for up to a
// minute, and notice the return of the API server only then.
type outageTransport struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper. A refused connection has carried nothing, so a read can be sent again.
func (t outageTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	for range int(outageMost / outagePause) {
		res, err := t.next.RoundTrip(req)
		if err == nil || req.Method != http.MethodGet || !utilnet.IsConnectionRefused(err) {
			return res, err
		}
		pause := time.NewTimer(outagePause)
		select {
		case <-req.Context().Done():
			pause.Stop()
			return nil, err
		case <-pause.C:
		}
	}
	return t.next.RoundTrip(req)
}
