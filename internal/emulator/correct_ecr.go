// SPDX-License-Identifier: Apache-2.0

package emulator

import (
	"context"
	"maps"
	"net/http"
)

// endScanning: scanOnPush is false where a request leaves it out, as clients do with false. moto keeps the value of before.
// https://docs.aws.amazon.com/AmazonECR/latest/APIReference/API_ImageScanningConfiguration.html
func endScanning(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	if !a.ok() || member(x.json, "imageScanningConfiguration.scanOnPush") != nil {
		return a
	}
	request := maps.Clone(x.json)
	request["imageScanningConfiguration"] = map[string]any{"scanOnPush": false}
	again, _, err := p.askJSON(ctx, x, x.op, request)
	if err != nil {
		return errorAnswer(x.request, awsError{http.StatusInternalServerError, "ProxyError", err.Error()})
	}
	return again
}
