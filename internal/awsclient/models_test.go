// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/awsmodels"
)

func modeled(t *testing.T) awsmodels.Table {
	t.Helper()
	table, err := awsmodels.Read()
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestModels_KnowEveryOperationThatIsCalled fails when a kind calls something new: `make awsmodels` adds it.
func TestModels_KnowEveryOperationThatIsCalled(t *testing.T) {
	called, err := awsmodels.Called("../..")
	if err != nil {
		t.Fatal(err)
	}
	table, operations := modeled(t), 0
	for service, names := range called {
		for _, operation := range names {
			operations++
			if _, ok := table.Services[service][operation]; !ok {
				t.Errorf("%s %s is not in the table of models: run make awsmodels", service, operation)
			}
		}
		if got := slices.Sorted(maps.Keys(table.Services[service])); len(got) > len(names) {
			t.Errorf("the table of models has operations of %s that nothing calls: %v", service, got)
		}
	}
	if operations < 300 {
		t.Errorf("only %d operations were found", operations)
	}
}

// TestModels_EveryErrorHasARow: each error that AWS documents for an operation is expected. Service models name the codes; the table of
// errors assigns their classes.
func TestModels_EveryErrorHasARow(t *testing.T) {
	for service, operations := range modeled(t).Services {
		for operation, codes := range operations {
			for _, code := range codes.All() {
				f := Failure{Service: service, Operation: operation, Code: code, Status: 400}
				if r, ok := lookupError(f); !ok || r.class == Unknown {
					t.Errorf("%s %s answers with %s, of which the table of errors says nothing: add a row to %s", service, operation, code,
						placeOf(service, "Rows"))
				}
			}
		}
	}
}

// TestModels_RowsSayWhatTheNameOfTheErrorSays reads the names of the modeled errors as a person would.
func TestModels_RowsSayWhatTheNameOfTheErrorSays(t *testing.T) {
	for service, operations := range modeled(t).Services {
		for operation, codes := range operations {
			for _, code := range codes.All() {
				want := classesOfName(normalizeCode(code))
				f := Failure{Service: service, Operation: operation, Code: code, Status: 400}
				if r, ok := lookupError(f); ok && want != nil && !slices.Contains(want, r.class) {
					t.Errorf("%s %s: %s is %s, and by its name one of %v", service, operation, code, r.class, want)
				}
			}
		}
	}
}

func classesOfName(code string) []Class {
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(code, w) })
	}
	switch {
	case has("NotFound", "NoSuch", "NonExistent", "DoesNotExist"):
		return []Class{NotFound, Invalid, Propagating}
	case has("AlreadyExists", "AlreadyOwned"):
		return []Class{Exists, NameTaken, Invalid} // Invalid: the name of another resource, such as of a final snapshot
	case has("Quota", "LimitExceeded", "TooMany", "Exceeded"):
		return []Class{Limit, Throttled, Busy, Transient, Invalid}
	case has("NotAuthorized", "AccessDenied"):
		return []Class{Denied}
	case has("Invalid") && !has("Token"):
		return []Class{Invalid, Busy, Propagating, ScheduledForDeletion, NotEmpty, Protected, NotFound, Unauthenticated, Conflict}
	}
	return nil
}

// TestHadNoEffect_OfEveryAnswerThatIsTheCallers: AWS answers with a 4xx instead of carrying the call out. An answer that says that a
// request was given up on, or that comes from another sender than AWS, proves nothing.
func TestHadNoEffect_OfEveryAnswerThatIsTheCallers(t *testing.T) {
	answered := 0
	for service, operations := range modeled(t).Services {
		for operation, codes := range operations {
			for _, code := range codes.All() {
				answered++
				if want := !matchesAnyOf(gaveUp, normalizeCode(code)); HadNoEffect(failed(service, operation, code, "", 400)) != want {
					t.Errorf("%s %s: %s had no effect: %v, want %v", service, operation, code, !want, want)
				}
			}
		}
	}
	if answered < 1000 {
		t.Errorf("only %d answers", answered)
	}
	for _, a := range []struct {
		code   string
		status int
		want   bool
	}{
		{"FeatureUnavailableInTierException", 400, true},
		{"NeverHeardOfException", 400, true},
		{"InvalidVpcID.NotFound", 400, true},
		{"RequestTimeout", 400, false},
		{"Whatever", 408, false},
		{"NotFound", 404, false}, // made up from the status
		{"", 404, false},
		{"InternalError", 500, false},
		{"Whatever", 0, false},
	} {
		if got := HadNoEffect(failed("Anything", "Create", a.code, "", a.status)); got != a.want {
			t.Errorf("%s %d: %v", a.code, a.status, got)
		}
	}
}

// TestExplain_ARequestThatTheSDKRefusesSaysWhy: AWS was never asked.
func TestExplain_ARequestThatTheSDKRefusesSaysWhy(t *testing.T) {
	client := cognitoidentityprovider.New(cognitoidentityprovider.Options{Region: "eu-west-1"})
	_, err := client.UpdateUserPool(t.Context(),
		&cognitoidentityprovider.UpdateUserPoolInput{UserPoolId: aws.String("p"), SmsConfiguration: &types.SmsConfigurationType{}})
	s, ok := status.AsStalled(Explain(err, "cognito-idp:UpdateUserPool"))
	if !ok || !strings.Contains(s.Message, "was not sent") || !strings.Contains(s.Message, "SmsConfiguration.SnsCallerArn") {
		t.Errorf("%v", Explain(err, "cognito-idp:UpdateUserPool"))
	}
}

// TestModels_MessagesNameActionsOfIAM: the SDK has its own names of services. An action that a message names can be allowed in a policy.
func TestModels_MessagesNameActionsOfIAM(t *testing.T) {
	reference, err := awsmodels.ReadReference()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for action := range reference.Actions {
		prefix, _, _ := strings.Cut(action, ":")
		known[prefix] = true
	}
	for service := range modeled(t).Services {
		if prefix := kind.IAMPrefix(service); !known[prefix] {
			t.Errorf("IAM has no actions of the service %s: add its name in IAM to internal/kind/iamprefix.go", prefix)
		}
	}
}
