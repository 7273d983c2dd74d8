// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/glue"
	gluetypes "github.com/aws/aws-sdk-go-v2/service/glue/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
)

// An adopted crawler keeps its role until the operator has changed it, and an adopted role its policies: where a provider lets both be
// adopted, a tenant gets neither with rights that the provider does not pass.
func TestAttack_AnAdoptionBringsNoRights(t *testing.T) {
	extent.Full(t)
	b := newBed(t)
	account := b.admin(homeAccount)
	trust := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"Service":"glue.amazonaws.com"},"Action":"sts:AssumeRole"}]}`
	everything := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
	roles, crawlers := iam.NewFromConfig(account), glue.NewFromConfig(account)
	out, err := roles.CreateRole(b.Ctx(), &iam.CreateRoleInput{RoleName: aws.String("finance-admin"), AssumeRolePolicyDocument: &trust})
	must(b, out, err)
	put, err := roles.PutRolePolicy(b.Ctx(),
		&iam.PutRolePolicyInput{RoleName: aws.String("finance-admin"), PolicyName: aws.String("all"), PolicyDocument: &everything})
	must(b, put, err)
	made, err := crawlers.CreateCrawler(b.Ctx(),
		&glue.CreateCrawlerInput{Name: aws.String("finance"), Role: aws.String("finance-admin"), DatabaseName: aws.String("lake"),
			Targets: &gluetypes.CrawlerTargets{S3Targets: []gluetypes.S3Target{{Path: aws.String("s3://finance/")}}}})
	must(b, made, err)
	open, pathed := provider("open"), provider("pathed")
	open.Spec.AdoptableKinds = []v1alpha1.KindName{"IAMRole", "GlueCrawler"}
	pathed.Spec.AdoptableKinds, pathed.Spec.RolePathPrefix = open.Spec.AdoptableKinds, "/team/"
	b.Create(open, pathed)
	b.Ready(open, pathed)

	tenant, mark := b.Tenant(b.Namespace), b.World.AWS().Mark()
	adopting := func(provider string) v1alpha1.CommonSpec {
		s := through(provider)
		s.AdoptionPolicy, s.DeletionPolicy = v1alpha1.AdoptAlways, v1alpha1.DeletionRetain
		return s
	}
	role := &v1alpha1.IAMRole{Spec: v1alpha1.IAMRoleSpec{CommonSpec: adopting("open"), RoleName: "finance-admin",
		IRSA: &v1alpha1.IAMRoleIRSA{ServiceAccount: "app"}}}
	crawler := &v1alpha1.GlueCrawler{Spec: v1alpha1.GlueCrawlerSpec{CommonSpec: adopting("pathed"), CrawlerName: "finance",
		DatabaseName: "lake", Role: "team/own",
		S3Targets: []v1alpha1.GlueS3Target{{Path: "s3://mine/"}}}}
	for name, o := range map[string]client.Object{"role": role, "crawler": crawler} {
		o.SetNamespace(b.Namespace)
		o.SetName(name)
		if err := tenant.Create(b.Ctx(), o); err != nil {
			t.Fatal(err)
		}
	}
	for o, says := range map[client.Object]string{role: "permissionsBoundaryARN", crawler: "/team/"} {
		if m := b.Shows(o, "Stalled", metav1.ConditionTrue, "NotPermitted"); !strings.Contains(m, says) {
			t.Errorf("%s: %s", o.GetName(), m)
		}
	}
	if w := awsWrites(b.World.AWS().Since(mark)); len(w) > 0 {
		t.Errorf("AWS was written to:\n%s", w)
	}
}

// A zone that a tenant makes under the name of another one, which gets no records from elsewhere, is no reason to doubt that one.
func TestAttack_ASecondZoneOfTheNameStopsNobody(t *testing.T) {
	extent.Full(t)
	b := newBed(t, "--ambient-namespaces=team-*,mallory-*")
	mallory := b.MakeNamespace("mallory-" + b.Namespace)
	zone, p := b.zone("corp.example.com"), provider("aws")
	p.Namespace = mallory
	b.Create(p)
	b.Ready(p)
	second := &v1alpha1.Route53HostedZone{ObjectMeta: metav1.ObjectMeta{Namespace: mallory, Name: "zone"},
		Spec: v1alpha1.Route53HostedZoneSpec{CommonSpec: through("aws"), Name: "corp.example.com"}}
	if err := b.Tenant(mallory).Create(b.Ctx(), second); err != nil {
		t.Fatal(err)
	}
	b.Ready(second)
	c := b.small("web")
	c.Spec.Ingress = &nexusv1.IngressSpec{Host: "app.corp.example.com", HostedZoneName: "corp.example.com"}
	b.Create(c)
	b.Running(c)
	if got := fmt.Sprint(zone.records()); !strings.Contains(got, "app.corp.example.com") {
		t.Errorf("the zone of the administrator has %s", got)
	}
	b.Remove(c, second)
}
