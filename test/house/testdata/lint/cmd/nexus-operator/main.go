// SPDX-License-Identifier: Apache-2.0

// Command nexus-operator may read clock and environment; it imports no kind and no SDK of a service.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	_ "github.com/aws/aws-sdk-go-v2/service/s3"                    // want depguard: not allowed from list 'services'
	_ "github.com/google/go-containerregistry/pkg/name"            // want depguard: not allowed from list 'images'
	_ "github.com/nexus-operator/nexus-operator/internal/kinds/s3" // want depguard: not allowed from list 'kinds'
	_ "helm.sh/helm/v4/pkg/action"                                 // want depguard: not allowed from list 'charts'
)

func main() { fmt.Println(context.Background(), time.Now(), os.Getenv("NAME")) }
