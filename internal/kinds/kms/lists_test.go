// SPDX-License-Identifier: Apache-2.0

package kms

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/kms"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestKey_ListsOfOthers(t *testing.T) {
	kindtest.Lists(t, engine.For(NewKey),
		kindtest.List{Field: "aliases", Object: keyOf(aliases("alias/orders")), Edited: keyOf(aliases("alias/orders", "alias/payments")),
			Add: onKey(func(t *testing.T, c *kms.Client, id *string) error {
				_, err := c.CreateAlias(t.Context(), &kms.CreateAliasInput{AliasName: aws.String("alias/theirs"), TargetKeyId: id})
				return err
			}),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				return slices.Contains(aliasesOf(t, r), "alias/theirs")
			}})
}
