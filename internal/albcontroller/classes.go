// SPDX-License-Identifier: Apache-2.0

package albcontroller

import (
	"github.com/nexus-operator/nexus-operator/internal/clusterfacts"
)

// The controllers of IngressClasses that make Application Load Balancers: the AWS Load Balancer Controller, and EKS Auto Mode.
const (
	IngressController  = "ingress.k8s.aws/alb"
	AutoModeController = clusterfacts.BalancerController
)

// AutoModeRemedy asks for the one object that a cluster of EKS Auto Mode lacks for load balancers: another controller would be one too
// many.
const AutoModeRemedy = "create an IngressClass alb with controller " + AutoModeController +
	", because EKS Auto Mode creates the load balancers"
