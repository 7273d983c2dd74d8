// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"os"
	"testing"
	"time"

	_ "github.com/aws/aws-sdk-go-v2/service/s3"
	_ "github.com/nexus-operator/nexus-operator/internal/kinds/s3"
)

func TestTestsMayReadClockAndEnvironment(t *testing.T) {
	t.Log(context.Background(), os.Getenv("NAME"), time.Now())
}
