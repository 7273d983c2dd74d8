// SPDX-License-Identifier: Apache-2.0

// Package controller imports what only others may import.
package controller

import (
	_ "github.com/aws/aws-sdk-go-v2/service/s3"                                  // want depguard: not allowed from list 'services'
	_ "github.com/google/go-containerregistry/pkg/name"                          // want depguard: not allowed from list 'images'
	_ "github.com/nexus-operator/nexus-operator/internal/intent/engines/kyverno" // want depguard: not allowed from list 'kinds'
	_ "github.com/nexus-operator/nexus-operator/internal/kinds/s3"               // want depguard: not allowed from list 'kinds'
	_ "helm.sh/helm/v4/pkg/action"                                               // want depguard: not allowed from list 'charts'
)
