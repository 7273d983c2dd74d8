// SPDX-License-Identifier: Apache-2.0

package capability_test

import (
	"fmt"
	"strings"
	"testing"

	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/capability"
	"github.com/nexus-operator/nexus-operator/internal/capability/parts/buckets"
)

// accountRegional gives the buckets names that no other account can take.
func accountRegional(c *nexusv1.NexusAICapability) {
	c.Spec.DataServices.S3.Naming = nexusv1.BucketsAccountRegional
}

func TestBucketNames_OfTheAccountAreToldToEverythingThatUsesThem(t *testing.T) {
	c := minimal(withData, accountRegional)
	g := compile(t, c, facts())
	for _, purpose := range []string{"call-data", "journey-logs", "journey-reports", "wxcc-simulator"} {
		name := "myapp-dev-" + purpose + "-123456789012-eu-central-1-an"
		if got := at(t, object(t, g, "S3Bucket/myapp-dev-"+purpose+"-an"), "spec", "bucketName"); got != name {
			t.Errorf("%s has the name %v", purpose, got)
		}
		if text := fmt.Sprint(policies(t, object(t, g, "IAMRole/myapp-dev-app-role"))); !strings.Contains(text, "arn:aws:s3:::"+name+"/*") {
			t.Errorf("the role does not name %s: %s", name, text)
		}
		config := object(t, g, "ConfigMap/myapp-dev-config")
		if got := at(t, config, "data", "NEXUS_S3_BUCKET_"+strings.ToUpper(strings.ReplaceAll(purpose, "-", "_"))); got != name {
			t.Errorf("the settings name %v", got)
		}
		if got := at(t, object(t, g, "SSMParameterSet/myapp-dev"), "spec", "parameters", "s3/"+purpose+"-bucket", "value"); got != name {
			t.Errorf("the parameters name %v", got)
		}
	}
	location := at(t, object(t, g, "GlueTable/myapp-dev-call-records"), "spec", "storageDescriptor", "location").(string)
	if !strings.HasPrefix(location, "s3://myapp-dev-call-data-123456789012-eu-central-1-an/") {
		t.Errorf("the table is in %s", location)
	}
	if text := fmt.Sprint(policies(t, object(t, g, "IAMRole/myapp-dev-glue-role"))); !strings.Contains(text, "myapp-dev-call-data-123456789012-eu-central-1-an") {
		t.Errorf("the role of the crawler has %s", text)
	}
	if force, known := buckets.ForceDestroy(c, "myapp-dev-call-data-an"); force || !known {
		t.Errorf("the object of the bucket is not known: %t, %t", force, known)
	}
	for _, naming := range []nexusv1.BucketNaming{"", nexusv1.BucketsGlobal} {
		c.Spec.DataServices.S3.Naming = naming
		if got := at(t, object(t, compile(t, c, facts()), "S3Bucket/myapp-dev-call-data"), "spec", "bucketName"); got != "myapp-dev-call-data" {
			t.Errorf("naming %q: %v", naming, got)
		}
	}
}

func TestBucketNames_OfTheAccountWaitForTheAccount(t *testing.T) {
	f := facts()
	f.Provider.Account = ""
	g := compile(t, minimal(withData, accountRegional), f)
	for _, id := range []string{"S3Bucket/myapp-dev-call-data-an", "GlueTable/myapp-dev-call-records"} {
		if n, _ := g.Node(id); !strings.Contains(n.Unresolved, "AWSProvider/myapp-dev") {
			t.Errorf("%s does not wait for the account: %q", id, n.Unresolved)
		}
	}
}

func TestBucketNames_OfTheAccountHaveALimit(t *testing.T) {
	long := minimal(withData, accountRegional, func(c *nexusv1.NexusAICapability) { c.Spec.CapabilityName = "conversations-of-support" })
	for _, tc := range []struct {
		buckets []nexusv1.BucketSpec
		field   string
	}{{nil, "spec.dataServices.s3.naming"}, {[]nexusv1.BucketSpec{{Name: "z"}, {Name: "attachments"}}, "spec.dataServices.s3.buckets[1].name"}} {
		long.Spec.DataServices.Glue = nil
		long.Spec.DataServices.S3.Buckets = tc.buckets
		err := capability.Validate(long, facts())
		if err == nil || !strings.Contains(err.Error(), tc.field) || !strings.Contains(err.Error(), "S3 allows 63") {
			t.Errorf("%v: %v", tc.buckets, err)
		}
	}
	long.Spec.DataServices.S3.Naming = ""
	if err := capability.Validate(long, facts()); err != nil {
		t.Errorf("a name of the global namespace: %v", err)
	}
}
