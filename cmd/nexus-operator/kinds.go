package main

import (
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kinds/dynamodb"
	"github.com/nexus-operator/nexus-operator/internal/kinds/glue"
	"github.com/nexus-operator/nexus-operator/internal/kinds/iam"
	"github.com/nexus-operator/nexus-operator/internal/kinds/s3"
	"github.com/nexus-operator/nexus-operator/internal/kinds/secretsmanager"
	"github.com/nexus-operator/nexus-operator/internal/kinds/ssm"
)

// kinds is the product's table of contents: every AWS kind, one line each.
func kinds() []engine.Entry {
	return []engine.Entry{
		engine.For(s3.NewBucket),
		engine.For(dynamodb.NewTable),
		engine.For(iam.NewRole),
		engine.For(glue.NewDatabase),
		engine.For(glue.NewTable),
		engine.For(glue.NewCrawler),
		engine.For(ssm.NewParameterSet),
		engine.For(secretsmanager.NewSecret),
	}
}
