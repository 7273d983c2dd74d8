// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

func TestFence_KeepsWritesFromBeingSent(t *testing.T) {
	m := newMetered(t, nil)
	sent := 0
	m.answer = func(w http.ResponseWriter) { sent++; bare(200, "", "")(w) }
	checks, gone := 0, errors.New("the object is gone")
	ctx := WithFence(t.Context(), func(context.Context) error { checks++; return gone })
	err := m.put(ctx)
	if !errors.Is(err, gone) || !HadNoEffect(err) || sent != 0 || checks != 1 {
		t.Errorf("a fenced write: %v, sent %d times after %d checks", err, sent, checks)
	}
	if _, err := s3.NewFromConfig(m.Config).GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: aws.String("b")}); errors.Is(err,
		gone) || sent != 1 || checks != 1 {
		t.Errorf("a read behind the fence: %v, sent %d times after %d checks", err, sent, checks)
	}
	gone = nil
	if err := m.put(ctx); err != nil || sent != 2 || checks != 2 {
		t.Errorf("a write that the fence lets through: %v, sent %d times after %d checks", err, sent, checks)
	}
}
