// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

// awsTime is the format of X-Amz-Date.
const awsTime = "20060102T150405Z"

// maxSkew returns how far the time of a signature may be from the clock of a service.
func (d *Request) maxSkew() time.Duration {
	return cmp.Or(d.facts().Requests.MaxSkew, 5*time.Minute)
}

// refuseSkewedRequest: moto does not look at the time of a signature. AWS
// refuses those that are too far from its clock.
func (c *Core) refuseSkewedRequest(x *Exchange) *Answer {
	skew := c.memory.clockSkew()
	if skew == 0 {
		return nil
	}
	signed := x.HTTP.Header.Get("X-Amz-Date")
	if presigned := x.HTTP.URL.Query().Get("X-Amz-Date"); presigned != "" {
		signed = presigned
	}
	at, err := time.Parse(awsTime, signed)
	if err != nil {
		return nil // not signed
	}
	server := time.Now().Add(skew).UTC()
	if age := server.Sub(at); age.Abs() > x.maxSkew() {
		return ErrorAnswer(x.Request, skewed(x.Request, at, server))
	}
	return nil
}

// skewed returns the error of a service for a signature made at another time.
func skewed(d *Request, signed, server time.Time) Error {
	limit := d.maxSkew()
	bound, text := server.Add(-limit), "Signature expired: %s is now earlier than %s (%s - %d min.)"
	if signed.After(server) {
		bound, text = server.Add(limit), "Signature not yet current: %s is still later than %s (%s + %d min.)"
	}
	message := fmt.Sprintf(text, signed.Format(awsTime), bound.Format(awsTime), server.Format(awsTime), int(limit.Minutes()))
	switch d.Protocol {
	case ProtocolS3:
		return Error{http.StatusForbidden, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large."}
	case ProtocolEC2:
		return Error{http.StatusBadRequest, "RequestExpired", "Request has expired."}
	case protocolQuery, ProtocolXML:
		return Error{http.StatusForbidden, "SignatureDoesNotMatch", message}
	case protocolREST:
		return Error{http.StatusForbidden, "InvalidSignatureException", message}
	}
	return Error{http.StatusBadRequest, "InvalidSignatureException", message}
}
