// SPDX-License-Identifier: Apache-2.0

// Package capability is pure.
package capability

import (
	_ "net/http" // want depguard: not allowed from list 'pure'
	_ "os"       // want depguard: not allowed from list 'pure'

	_ "github.com/aws/aws-sdk-go-v2/aws"           // want depguard: not allowed from list 'pure'
	_ "k8s.io/client-go/rest"                      // want depguard: not allowed from list 'pure'
	_ "sigs.k8s.io/controller-runtime/pkg/handler" // want depguard: not allowed from list 'pure'
)
