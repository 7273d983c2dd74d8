// SPDX-License-Identifier: Apache-2.0

package cloudcontrol_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	api "github.com/aws/aws-sdk-go-v2/service/cloudcontrol"
	"github.com/aws/aws-sdk-go-v2/service/cloudcontrol/types"

	"github.com/nexus-operator/nexus-operator/internal/testkit/cloudcontrol"
)

// Handlers need the rights of the schema on the resource, and on tags where the request changes them. Without one, a write ends with
// AccessDenied, and a read is refused.
func TestRights_OfTheHandlersAreTheCallers(t *testing.T) {
	b := newBench(t)
	var needs []string
	denied := ""
	b.double.SetRights(func(accessKey string, n cloudcontrol.Need) string {
		needs = append(needs, n.Action+" "+n.Resource+" "+n.Context["aws:RequestTag/team"]+" "+n.Tags["team"])
		if accessKey != "AKIDTEST" || n.Action == denied {
			return "not authorized to perform: " + n.Action
		}
		return ""
	})
	asked := func(want ...string) {
		t.Helper()
		for _, w := range want {
			if !slices.Contains(needs, w) {
				t.Errorf("%q is not in\n%s", w, strings.Join(needs, "\n"))
			}
		}
		needs = nil
	}
	const list = "arn:aws:ec2:us-east-1:123456789012:prefix-list/"
	b.mustCreate(prefixList, `{"PrefixListName":"office","AddressFamily":"IPv4","MaxEntries":2,"Tags":[{"Key":"team","Value":"a"}]}`)
	asked("ec2:CreateManagedPrefixList "+list+"* a ", "ec2:CreateTags "+list+"* a ", "ec2:DescribeManagedPrefixLists *  ")
	id := b.double.Identifiers(prefixList)[0]
	if _, err := b.update(prefixList, id, `[{"op":"replace","path":"/MaxEntries","value":3}]`); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(needs, func(n string) bool { return strings.Contains(n, "Tags") }) {
		t.Errorf("an update of no tags needs rights to tags: %v", needs)
	}
	asked("ec2:ModifyManagedPrefixList " + list + id + "  a")
	denied = "ec2:ModifyManagedPrefixList"
	event, err := b.update(prefixList, id, `[{"op":"replace","path":"/MaxEntries","value":4}]`)
	if err != nil || event.ErrorCode != types.HandlerErrorCodeAccessDenied || b.double.Properties(prefixList, id)["MaxEntries"] != 3.0 {
		t.Errorf("%+v %v", event, err)
	}
	denied = "kinesis:DescribeStreamSummary"
	_, err = b.client.GetResource(t.Context(), &api.GetResourceInput{TypeName: aws.String(stream), Identifier: aws.String("events")})
	b.refused("a read without the right", err, "AccessDeniedException")
}
