// SPDX-License-Identifier: Apache-2.0

package importer

import (
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/internal/answers"
	"github.com/nexus-operator/nexus-operator/internal/catalog"
)

type enumeration string

// leaf is one of a table, with elements in its path.
func leaf(path string, value any) answers.Leaf {
	plain := path
	if path[0] == 'T' {
		plain = elements.ReplaceAllString(path, "")
	}
	return answers.Leaf{Path: path, Plain: plain, Value: value}
}

func TestSettings_AreNamedAsAPersonWould(t *testing.T) {
	said := map[string]bool{"orders": true, "id-1": true}
	ofKind := map[string][]string{}
	for _, e := range catalog.Kinds() {
		ofKind[e.Name()] = e.Meta().Facts.NotSettings
	}
	for name, c := range map[string]struct {
		kind   string
		unread answers.Member
		want   []string
	}{
		"a setting": {"X",
			answers.Member{Path: "Association.TargetRoleArn", Leaves: []answers.Leaf{leaf("Association.TargetRoleArn", "arn:x")}},
			[]string{"targetRoleArn"}},
		"a list": {"X",
			answers.Member{Path: "Table.Replicas", Leaves: []answers.Leaf{leaf("Table.Replicas[eu].A", "a"), leaf("Table.Replicas[us].A", "a")}},
			[]string{"replicas"}},
		"a part of a list": {"DynamoDBTable",
			answers.Member{Path: "Table.Replicas",
				Leaves: []answers.Leaf{leaf("Table.Replicas[eu].ReplicaStatus", enumeration("ACTIVE")), leaf("Table.Replicas[us].KMSKeyId", "a")}},
			[]string{"replicas[us]"}},
		"the resource in a list": {"X",
			answers.Member{Path: "Repositories[orders].KMSKeyID", Leaves: []answers.Leaf{leaf("Repositories[orders].KMSKeyID", "k")}},
			[]string{"kmsKeyID"}},
		"dots in names": {"X", answers.Member{Path: "Table.A[x.y].B", Leaves: []answers.Leaf{leaf("Table.A[x.y].B", "k")}},
			[]string{"a[x.y].b"}},
		"said in other words": {"X", answers.Member{Path: "Table.Name", Leaves: []answers.Leaf{leaf("Table.Name", "orders")}}, nil},
		"an enumeration like said": {"X", answers.Member{Path: "Table.Mode", Leaves: []answers.Leaf{leaf("Table.Mode", enumeration("orders"))}},
			[]string{"mode"}},
		"an identifier": {"DynamoDBTable",
			answers.Member{Path: "Table.TableId", Leaves: []answers.Leaf{leaf("Table.TableId", "x")}}, nil},
		"a default": {"SQSQueue",
			answers.Member{Path: "Attributes[KmsDataKeyReusePeriodSeconds]",
				Leaves: []answers.Leaf{leaf("Attributes[KmsDataKeyReusePeriodSeconds]", "300")}}, nil},
		"another value": {"SQSQueue",
			answers.Member{Path: "Attributes[KmsDataKeyReusePeriodSeconds]",
				Leaves: []answers.Leaf{leaf("Attributes[KmsDataKeyReusePeriodSeconds]", "60")}}, []string{"attributes[KmsDataKeyReusePeriodSeconds]"}},
		"a pattern of defaults": {"LambdaFunction",
			answers.Member{Path: "Configuration.LoggingConfig.LogGroup",
				Leaves: []answers.Leaf{leaf("Configuration.LoggingConfig.LogGroup", "/aws/lambda/x")}}, nil},
		"an operation": {"PodIdentityAssociation",
			answers.Member{Operation: "eks.ListPodIdentityAssociations", Path: "Associations[other]",
				Leaves: []answers.Leaf{leaf("Associations[other].Id", "x")}}, nil},
		"another resource": {"Route53RecordSet",
			answers.Member{Path: "ResourceRecordSets[a.example.com.]",
				Leaves: []answers.Leaf{leaf("ResourceRecordSets[a.example.com.].Weight", 1)}}, nil},
		"an element without name": {"X",
			answers.Member{Path: "Table.Indexes[one].Name", Leaves: []answers.Leaf{leaf("Table.Indexes[one].Name", "one")}},
			[]string{"indexes[one]"}},
	} {
		if got := settingsIn(ofKind[c.kind], []answers.Member{c.unread}, said); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestSettings_NameAnElementOnce(t *testing.T) {
	got := settingsIn(nil, []answers.Member{
		{Path: "Table.Indexes[one].Name", Leaves: []answers.Leaf{leaf("Table.Indexes[one].Name", "one")}},
		{Path: "Table.Indexes[one].Keys", Leaves: []answers.Leaf{leaf("Table.Indexes[one].Keys", "k")}},
		{Path: "Table.Others", Leaves: []answers.Leaf{leaf("Table.Others[two].Name", "two")}}}, nil)
	if want := []string{"indexes[one]", "others"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
