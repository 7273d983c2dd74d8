// SPDX-License-Identifier: Apache-2.0

package s3

import (
	"cmp"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// ruleOf returns the rule of a configuration, which has one at most, or an empty one.
func ruleOf(found *types.ServerSideEncryptionConfiguration) types.ServerSideEncryptionRule {
	return append(slices.Clone(kind.NonNil(found).Rules), types.ServerSideEncryptionRule{})[0]
}

func isDefaultEncryption(s BucketState) bool {
	return s.Encryption.Algorithm == "AES256" && !aws.ToBool(s.Encryption.BucketKeyEnabled)
}

// toEncryption overlays the found rule with the wanted settings, so that the write keeps the others.
func toEncryption(want v1alpha1.S3Encryption, found *types.ServerSideEncryptionConfiguration) *types.ServerSideEncryptionConfiguration {
	rule := ruleOf(found)
	rule.BucketKeyEnabled = cmp.Or(want.BucketKeyEnabled, rule.BucketKeyEnabled)
	rule.ApplyServerSideEncryptionByDefault = &types.ServerSideEncryptionByDefault{
		SSEAlgorithm: types.ServerSideEncryption(want.Algorithm), KMSMasterKeyID: kind.NonEmpty(&want.KMSKeyID)}
	return &types.ServerSideEncryptionConfiguration{Rules: []types.ServerSideEncryptionRule{rule}}
}

// fromEncryption returns SSE-S3, which is always on, where nothing is configured. The wanted key is
// given in the words of want.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/default-encryption-faq.html
func fromEncryption(found *types.ServerSideEncryptionConfiguration, want v1alpha1.S3Encryption) *v1alpha1.S3Encryption {
	rule := ruleOf(found)
	use := kind.NonNil(rule.ApplyServerSideEncryptionByDefault)
	key := kind.CustomerKMSKey("s3", aws.ToString(use.KMSMasterKeyID))
	return &v1alpha1.S3Encryption{Algorithm: string(cmp.Or(use.SSEAlgorithm, types.ServerSideEncryptionAes256)),
		KMSKeyID: *kind.KMSKeyAs(&want.KMSKeyID, &key), BucketKeyEnabled: kind.NonNil(rule.BucketKeyEnabled)}
}

// fromCORS leaves out the IDs where the wanted rule has none.
func fromCORS(found []types.CORSRule, want []v1alpha1.S3CORSRule) *[]v1alpha1.S3CORSRule {
	out := kind.NonNil(kind.Convert[*[]v1alpha1.S3CORSRule](&found))
	for i := range *out {
		rule := &(*out)[i]
		for _, list := range []*[]string{&rule.AllowedHeaders, &rule.ExposeHeaders} {
			if len(*list) == 0 {
				*list = nil // S3 need not distinguish an empty list from none
			}
		}
	}
	for i := range min(len(want), len(*out)) {
		rule := &(*out)[i]
		if want[i].ID == "" {
			rule.ID = ""
		}
		rule.AllowedMethods, rule.AllowedOrigins = kind.InOrderOf(want[i].AllowedMethods, rule.AllowedMethods), kind.InOrderOf(want[i].AllowedOrigins, rule.AllowedOrigins)
		rule.AllowedHeaders, rule.ExposeHeaders = kind.InOrderOf(want[i].AllowedHeaders, rule.AllowedHeaders), kind.InOrderOf(want[i].ExposeHeaders, rule.ExposeHeaders)
	}
	return out
}

// toCORS keeps the IDs of found rules for equal rules without one.
func toCORS(want []v1alpha1.S3CORSRule, found []types.CORSRule) []types.CORSRule {
	same := func(w v1alpha1.S3CORSRule, h types.CORSRule) bool {
		return w.ID == "" && reflect.DeepEqual(w, (*fromCORS([]types.CORSRule{h}, []v1alpha1.S3CORSRule{w}))[0])
	}
	return kind.OverlayEach(want, found, same, func(h *types.CORSRule, w v1alpha1.S3CORSRule) { kind.Overlay(h, w) })
}

// Logging says where the access logs of a bucket go; zero for nowhere.
type Logging struct{ TargetBucket, TargetPrefix string }

// declareLogging needs no reference for a bucket that receives its own logs: it would wait for itself.
func declareLogging(sc kind.Scope, cr *v1alpha1.S3Bucket) (*Logging, error) {
	in := cr.Spec.Logging
	if in == nil {
		return nil, nil
	}
	out := &Logging{in.TargetBucket, in.TargetPrefix}
	switch ref := in.TargetBucketRef; {
	case ref == nil:
	case ref.Name == cr.Name:
		out.TargetBucket = cr.Spec.BucketName
	default:
		target, err := sc.Ref("S3Bucket", ref.Name)
		if err != nil {
			return nil, err
		}
		out.TargetBucket = target.ID
	}
	return out, nil
}

// toLogging overlays the found settings. S3 turns logging off where none are sent, and demands a prefix, even an empty one.
func toLogging(want Logging, found *types.LoggingEnabled) *types.BucketLoggingStatus {
	if want == (Logging{}) {
		return &types.BucketLoggingStatus{}
	}
	out := *kind.NonNil(found)
	out.TargetBucket, out.TargetPrefix = &want.TargetBucket, &want.TargetPrefix
	return &types.BucketLoggingStatus{LoggingEnabled: &out}
}

// toLock turns object lock on and replaces the default retention if it is declared; settings that the spec cannot declare stay.
func toLock(want *v1alpha1.S3DefaultRetention, found *types.ObjectLockConfiguration) *types.ObjectLockConfiguration {
	out := &types.ObjectLockConfiguration{ObjectLockEnabled: types.ObjectLockEnabledEnabled, Rule: kind.NonNil(found).Rule}
	if want == nil {
		return out
	}
	retention := *kind.NonNil(kind.NonNil(out.Rule).DefaultRetention)
	retention.Mode, retention.Days, retention.Years = types.ObjectLockRetentionMode(want.Mode), kind.NonZero(&want.Days), kind.NonZero(&want.Years)
	out.Rule = kind.Either(retention == types.DefaultRetention{}, nil, &types.ObjectLockRule{DefaultRetention: &retention})
	return out
}

// Website is the website configuration of a bucket; zero if it has none.
type Website struct{ IndexDocument, ErrorDocument, RedirectHost, RedirectProtocol string }

func declareWebsite(in *v1alpha1.S3Website) *Website {
	if in == nil {
		return nil
	}
	to := kind.NonNil(in.RedirectAllRequestsTo)
	return &Website{in.IndexDocument, in.ErrorDocument, to.HostName, to.Protocol}
}

func fromWebsite(out *s3.GetBucketWebsiteOutput) *Website {
	to := kind.NonNil(out.RedirectAllRequestsTo)
	return &Website{aws.ToString(kind.NonNil(out.IndexDocument).Suffix), aws.ToString(kind.NonNil(out.ErrorDocument).Key), aws.ToString(to.HostName), string(to.Protocol)}
}

// toWebsite keeps the routing rules, which S3 refuses beside a redirection of all requests.
func toWebsite(want Website, routes []types.RoutingRule) *types.WebsiteConfiguration {
	if want.RedirectHost != "" {
		return &types.WebsiteConfiguration{RedirectAllRequestsTo: &types.RedirectAllRequestsTo{HostName: &want.RedirectHost, Protocol: types.Protocol(want.RedirectProtocol)}}
	}
	out := &types.WebsiteConfiguration{IndexDocument: &types.IndexDocument{Suffix: &want.IndexDocument}, RoutingRules: routes}
	if want.ErrorDocument != "" {
		out.ErrorDocument = &types.ErrorDocument{Key: &want.ErrorDocument}
	}
	return out
}

// cannedACL returns the name of the canned access control list that grants the same; without one, the grants to others.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/acl-overview.html#canned-acl
func cannedACL(out *s3.GetBucketAclOutput) string {
	var grants []string
	for _, g := range out.Grants {
		who := kind.NonNil(g.Grantee)
		if owner := aws.ToString(kind.NonNil(out.Owner).ID); aws.ToString(who.ID) != owner || owner == "" || g.Permission != types.PermissionFullControl {
			to := aws.ToString(cmp.Or(who.URI, who.ID))
			grants = append(grants, to[strings.LastIndex(to, "/")+1:]+" "+string(g.Permission))
		}
	}
	slices.Sort(grants)
	all := strings.Join(grants, ", ")
	return cmp.Or(map[string]string{"": "private", "AllUsers READ": "public-read", "AllUsers READ, AllUsers WRITE": "public-read-write",
		"AuthenticatedUsers READ": "authenticated-read"}[all], all)
}
