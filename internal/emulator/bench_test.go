// SPDX-License-Identifier: Apache-2.0

package emulator_test

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

// The difference between the two is the cost of the proxy.
func BenchmarkListTables(b *testing.B) {
	w := world.Shared(b)
	for name, url := range map[string]string{"proxy": w.AWS().URL(), "moto": w.MotoURL()} {
		b.Run(name, func(b *testing.B) {
			c := clientsOf(url)
			for b.Loop() {
				if _, err := c.dynamodb.ListTables(b.Context(), &dynamodb.ListTablesInput{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
