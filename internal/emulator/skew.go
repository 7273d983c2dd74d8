// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"cmp"
	"fmt"
	"net/http"
	"time"
)

// awsTime is the format of X-Amz-Date.
const awsTime = "20060102T150405Z"

// maxSkew returns how far the time of a signature may be from the clock of a service.
func maxSkew(service string) time.Duration {
	return cmp.Or(factsOf(service).Requests.MaxSkew, 5*time.Minute)
}

// refuseSkewedRequest: moto does not look at the time of a signature. AWS
// refuses those that are too far from its clock.
func (c *core) refuseSkewedRequest(x *exchange) *answer {
	skew := c.memory.clockSkew()
	if skew == 0 {
		return nil
	}
	signed := x.http.Header.Get("X-Amz-Date")
	if presigned := x.http.URL.Query().Get("X-Amz-Date"); presigned != "" {
		signed = presigned
	}
	at, err := time.Parse(awsTime, signed)
	if err != nil {
		return nil // not signed
	}
	server := time.Now().Add(skew).UTC()
	if age := server.Sub(at); age.Abs() > maxSkew(x.service) {
		return errorAnswer(x.request, skewed(x.request, at, server))
	}
	return nil
}

// skewed returns what a service says of a signature made at another time.
func skewed(d *request, signed, server time.Time) awsError {
	limit := maxSkew(d.service)
	bound, text := server.Add(-limit), "Signature expired: %s is now earlier than %s (%s - %d min.)"
	if signed.After(server) {
		bound, text = server.Add(limit), "Signature not yet current: %s is still later than %s (%s + %d min.)"
	}
	message := fmt.Sprintf(text, signed.Format(awsTime), bound.Format(awsTime), server.Format(awsTime), int(limit.Minutes()))
	switch d.protocol {
	case protocolS3:
		return awsError{http.StatusForbidden, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large."}
	case protocolEC2:
		return awsError{http.StatusBadRequest, "RequestExpired", "Request has expired."}
	case protocolQuery, protocolXML:
		return awsError{http.StatusForbidden, "SignatureDoesNotMatch", message}
	case protocolREST:
		return awsError{http.StatusForbidden, "InvalidSignatureException", message}
	}
	return awsError{http.StatusBadRequest, "InvalidSignatureException", message}
}
