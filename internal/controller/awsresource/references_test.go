// SPDX-License-Identifier: Apache-2.0

package awsresource

import (
	"reflect"
	"slices"
	"testing"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
)

func TestReferencesAreFoundWhereverTheyStand(t *testing.T) {
	spec := v1alpha1.GlueCrawlerSpec{RoleRef: &v1alpha1.ObjectReference{Name: "role"}, DatabaseRef: &v1alpha1.ObjectReference{Name: "db"},
		CommonSpec: v1alpha1.CommonSpec{ProviderRef: v1alpha1.ProviderReference{Name: "aws"}}, S3Targets: []v1alpha1.GlueS3Target{{Path: "p"}}}
	inProperties := specOf(stream("shop",
		`{"A":{"$secret":"b","key":"k"},"D":[{"$ref":"KMSKey/c","field":"status.arn"}],"Schema":{"$ref":"#/definitions/x"}}`))
	if got := namesIn(inProperties, objectReference); !slices.Equal(got, []string{"c"}) {
		t.Errorf("%q", got)
	}
	got := namesIn(reflect.ValueOf(spec), objectReference)
	slices.Sort(got)
	if !slices.Equal(got, []string{"db", "role"}) {
		t.Errorf("%q", got)
	}
}
