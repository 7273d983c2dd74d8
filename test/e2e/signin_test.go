// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// The user pool of the example is made, told to the workloads, edited, held while it has users, and removed.
func TestSignIn_ThePoolLivesAndDiesWithItsCapability(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--check-interval=2s")
	api := cognitoidentityprovider.NewFromConfig(b.admin(homeAccount))
	c := b.Capability("examples/capability-with-cognito.yaml")
	b.Create(c)
	t.Logf("Running after %.1f s", b.Running(c).Seconds())
	b.Shows(c, "CognitoReady", metav1.ConditionTrue, "Ready")
	pool := &v1alpha1.CognitoUserPool{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "portal-dev-users"}}
	b.Ready(pool)
	id, client := pool.Status.UserPoolID, pool.Status.ClientIDs["app"]
	b.tells(c, "cognito/user-pool-id", "NEXUS_COGNITO_USER_POOL_ID", id)
	b.tells(c, "cognito/client-id", "NEXUS_COGNITO_CLIENT_ID", client)
	b.tells(c, "cognito/issuer", "NEXUS_COGNITO_ISSUER", pool.Status.Issuer)
	b.tells(c, "cognito/domain-url", "NEXUS_COGNITO_DOMAIN_URL", "https://portal-dev-"+homeAccount+".auth.ap-southeast-1.amazoncognito.com")
	b.lacks(b.inline("portal-dev-app-role"), "cognito-idp:", ":userpool/")
	callbacks := func() []string {
		t.Helper()
		out, err := api.DescribeUserPoolClient(b.Ctx(), &cognitoidentityprovider.DescribeUserPoolClientInput{UserPoolId: &id, ClientId: &client})
		return must(b, out, err).UserPoolClient.CallbackURLs
	}
	if got := callbacks(); !slices.Equal(got, []string{"http://localhost:3000/callback", "https://portal.example.com/callback"}) {
		t.Errorf("callbacks: %v", got)
	}

	// Another host reaches the client, whose ID stays.
	b.Edit(c, func() { c.Spec.Ingress.Host = "portal.example.org" })
	b.Running(c)
	if got := callbacks(); !slices.Contains(got, "https://portal.example.org/callback") {
		t.Errorf("callbacks after the edit: %v", got)
	}

	// A dropped pool with users is held until a person names it.
	_, err := api.AdminCreateUser(b.Ctx(),
		&cognitoidentityprovider.AdminCreateUserInput{UserPoolId: &id, Username: aws.String("ann@example.com")})
	must(b, 0, err)
	in := c.Spec.Cognito
	b.Edit(c, func() { c.Spec.EnableCognito, c.Spec.Cognito = false, nil })
	b.contains(b.Shows(c, "Stalled", metav1.ConditionTrue, "DataWouldBeLost"), "CognitoUserPool/portal-dev-users", "about 1 users",
		"nexus.ai/delete-data")
	b.Edit(c, func() { c.Spec.EnableCognito, c.Spec.Cognito = true, in })
	b.Running(c)
	b.Ready(pool)
	if pool.Status.UserPoolID != id {
		t.Errorf("the pool is %s, want %s with its user", pool.Status.UserPoolID, id)
	}
	b.Edit(c, func() {
		c.Spec.EnableCognito, c.Spec.Cognito, c.Annotations = false, nil, map[string]string{"nexus.ai/delete-data": "portal-dev-users"}
	})
	b.Running(c)
	b.Gone(pool)
	b.tells(c, "cognito/client-id", "NEXUS_COGNITO_CLIENT_ID", "")

	// A prefix that another pool has is reported with the remedy.
	other, err := api.CreateUserPool(b.Ctx(), &cognitoidentityprovider.CreateUserPoolInput{PoolName: aws.String("theirs")})
	must(b, 0, err)
	_, err = api.CreateUserPoolDomain(b.Ctx(),
		&cognitoidentityprovider.CreateUserPoolDomainInput{UserPoolId: other.UserPool.Id, Domain: aws.String("taken")})
	must(b, 0, err)
	taken := &nexusv1.CognitoSpec{CallbackURLs: []nexusv1.SignInURL{"https://portal.example.org/"}, DomainPrefix: "taken"}
	b.Edit(c, func() { c.Annotations, c.Spec.EnableCognito, c.Spec.Cognito = nil, true, taken })
	b.contains(b.Shows(c, "CognitoReady", metav1.ConditionFalse, "NameTaken"), "declare another prefix")
	b.Edit(c, func() { c.Spec.Cognito.DomainPrefix = "portal-sign-in" })
	b.Running(c)

	must(b, 0, b.Client.Delete(b.Ctx(), c))
	b.Gone(c)
	_, err = api.DeleteUserPoolDomain(b.Ctx(),
		&cognitoidentityprovider.DeleteUserPoolDomainInput{UserPoolId: other.UserPool.Id, Domain: aws.String("taken")})
	must(b, 0, err)
	_, err = api.DeleteUserPool(b.Ctx(), &cognitoidentityprovider.DeleteUserPoolInput{UserPoolId: other.UserPool.Id})
	must(b, 0, err)
	if inv := b.Inventory(); len(inv) > 0 {
		t.Errorf("left behind in AWS: %v", inv)
	}
}
