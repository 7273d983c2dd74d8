// SPDX-License-Identifier: Apache-2.0

package cognito

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestUserPool_ListsOfOthers(t *testing.T) {
	declared := poolOf(client("web"), group("admin"))
	kindtest.Lists(t, engine.For(NewUserPool),
		kindtest.List{Field: "clients", Object: declared, Edited: poolOf(client("web"), client("app"), group("admin")),
			Add: onPool(func(t *testing.T, c *idp, id *string) error {
				_, err := c.CreateUserPoolClient(t.Context(),
					&cognitoidentityprovider.CreateUserPoolClientInput{UserPoolId: id, ClientName: aws.String("theirs")})
				return err
			}),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				return slices.ContainsFunc(clientsOf(t, api(r), pools(t, r)[0].Id),
					func(c types.UserPoolClientType) bool { return *c.ClientName == "theirs" })
			}},
		kindtest.List{Field: "groups", Object: declared, Edited: poolOf(client("web"), group("admin"), group("reader")),
			Add: onPool(func(t *testing.T, c *idp, id *string) error {
				_, err := c.CreateGroup(t.Context(), &cognitoidentityprovider.CreateGroupInput{UserPoolId: id, GroupName: aws.String("theirs")})
				return err
			}),
			Has: func(t *testing.T, r *kindtest.Rig) bool {
				t.Helper()
				out, err := api(r).ListGroups(t.Context(), &cognitoidentityprovider.ListGroupsInput{UserPoolId: pools(t, r)[0].Id})
				kindtest.Must(t, err)
				return slices.ContainsFunc(out.Groups, func(g types.GroupType) bool { return *g.GroupName == "theirs" })
			}},
		kindtest.List{Field: "usernameAttributes", Fixed: true},
		kindtest.List{Field: "autoVerifiedAttributes", Fixed: true})
}
