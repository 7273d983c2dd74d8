// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kind"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
	"github.com/nexus-operator/nexus-operator/internal/status"
)

type keySpec = v1alpha1.EC2KeyPairSpec

const (
	keyName    = "login"
	aPublicKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEUuCJpjUYhXhBWDpKuoN7hiULcVxxskUyKOkI//NLqP"
	otherKey   = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOEQX+vxl8yrFhVLSD2itweoMlEsyooMTMvbShLzFi+u"
	importKey  = "ec2:ImportKeyPair"
	removeKey  = "ec2:DeleteKeyPair"
)

func keyPairOf(edits ...func(s *keySpec)) *v1alpha1.EC2KeyPair {
	o := &v1alpha1.EC2KeyPair{}
	o.Name, o.Spec.KeyName, o.Spec.PublicKeyMaterial = keyName, keyName, aPublicKey+" login@example.com"
	for _, edit := range edits {
		edit(&o.Spec)
	}
	return o
}

func keyTag(k, v string) func(s *keySpec) {
	return func(s *keySpec) { withTag(&s.CommonSpec, k, v) }
}

func material(text string) func(s *keySpec) {
	return func(s *keySpec) { s.PublicKeyMaterial = text }
}

func keyPairs(t *testing.T, r *kindtest.Rig) []types.KeyPairInfo {
	t.Helper()
	out, err := api(r).DescribeKeyPairs(t.Context(), &ec2.DescribeKeyPairsInput{IncludePublicKey: aws.Bool(true)})
	kindtest.Must(t, err)
	return out.KeyPairs
}

func existingKey(material string, tags map[string]string) func(*testing.T, *kindtest.Rig) {
	return func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).ImportKeyPair(t.Context(), &ec2.ImportKeyPairInput{KeyName: aws.String(keyName), PublicKeyMaterial: []byte(material),
			TagSpecifications: tagSpecification(types.ResourceTypeKeyPair, tags)})
		kindtest.Must(t, err)
	}
}

func deleteKey(t *testing.T, r *kindtest.Rig) {
	t.Helper()
	_, err := api(r).DeleteKeyPair(t.Context(), &ec2.DeleteKeyPairInput{KeyName: aws.String(keyName)})
	kindtest.Must(t, err)
}

func TestKeyPair(t *testing.T) {
	kindtest.Run(t, engine.For(NewKeyPair), slices.Concat(keyLives(), keyRefusals(), keyEdits(), keyDeletions()))
}

func keyLives() []kindtest.Case {
	earlier := ownedTags("EC2KeyPair", keyName, "an-earlier-one")
	return []kindtest.Case{
		{Name: "absent is imported by one call", Object: keyPairOf(), Cause: engine.New, Actions: []string{importKey}},
		{Name: "with tags and without a comment", Object: keyPairOf(material(aPublicKey), keyTag("team", "a")), Cause: engine.New,
			Actions: []string{importKey}},
		{Name: "as ssh-keygen writes it, with a line break", Object: keyPairOf(material(aPublicKey + " login@example.com\n")), Cause: engine.New,
			Actions: []string{importKey}},
		{Name: "another key of another name", Object: keyPairOf(material(otherKey), func(s *keySpec) { s.KeyName = "Other key" }),
			Cause: engine.New, Actions: []string{importKey}},
		{Name: "a key pair that vanished is imported again", Existing: keyPairOf(), Object: keyPairOf(), Drift: true, Before: deleteKey,
			Cause: engine.New, Actions: []string{importKey}},
		{Name: "left by an earlier object of this name, it is taken over", Object: keyPairOf(), Before: existingKey(aPublicKey, earlier),
			Cause: engine.Edited, Diff: []string{"Tags[nexus.ai/owner-uid]"}, Actions: []string{tag}},
		{Name: "unless adoption is refused", Object: keyPairOf(func(s *keySpec) { s.AdoptionPolicy = v1alpha1.AdoptNever }),
			Before: existingKey(aPublicKey, earlier), Stalled: status.ReasonConflict},
		{Name: "another key under the name is refused", Object: keyPairOf(), Before: existingKey(otherKey, earlier),
			Stalled: status.ReasonImmutable},
		{Name: "one without an owner is left alone", Object: keyPairOf(), Before: existingKey(aPublicKey, nil), Stalled: status.ReasonConflict},
	}
}

func keyRefusals() []kindtest.Case {
	refused := func(name string, edit func(s *keySpec)) kindtest.Case {
		return kindtest.Case{Name: name, Object: keyPairOf(edit), Stalled: status.ReasonInvalidSpec}
	}
	return []kindtest.Case{
		refused("a key that AWS generates is refused", material("")),
		refused("a private key in a Secret is refused", privateKeyInSecret),
		refused("a private key is refused",
			material("-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU=\n-----END OPENSSH PRIVATE KEY-----")),
		refused("a type that EC2 does not import is refused", material("ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTY=")),
		refused("two keys are refused", material(aPublicKey+"\n"+otherKey)),
		refused("a name that ends with a space is refused", func(s *keySpec) { s.KeyName = "login " }),
		{Name: "a key that is none is refused by AWS", Object: keyPairOf(material("ssh-ed25519 AAAA")), Stalled: status.ReasonRefusedByAWS,
			OnRun: true},
	}
}

func privateKeyInSecret(s *keySpec) { s.SecretRef = &v1alpha1.SecretReference{Name: "login"} }

func keyEdits() []kindtest.Case {
	retagged := func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		_, err := api(r).CreateTags(t.Context(), &ec2.CreateTagsInput{Resources: []string{*keyPairs(t, r)[0].KeyPairId},
			Tags: []types.Tag{{Key: aws.String("team"), Value: aws.String("b")}}})
		kindtest.Must(t, err)
	}
	replaced := func(t *testing.T, r *kindtest.Rig) {
		t.Helper()
		deleteKey(t, r)
		existingKey(otherKey, ownedTags("EC2KeyPair", keyName, "uid-of-login"))(t, r)
	}
	return []kindtest.Case{
		{Name: "tags are added and dropped", Existing: keyPairOf(keyTag("old", "1")), Object: keyPairOf(keyTag("team", "a")),
			Cause: engine.Edited, Diff: []string{"Tags[team]", "Tags[old]"}, Actions: []string{tag, untag}},
		{Name: "tags that somebody changed are restored", Existing: keyPairOf(keyTag("team", "a")), Object: keyPairOf(keyTag("team", "a")),
			Drift: true, Before: retagged,
			Cause: engine.Drifted, Diff: []string{"Tags[team]"}, Actions: []string{tag}},
		{Name: "another comment is the same key", Existing: keyPairOf(), Object: keyPairOf(material(aPublicKey + " other")),
			Cause: engine.InSync},
		{Name: "another key", Existing: keyPairOf(), Object: keyPairOf(material(otherKey)), Stalled: status.ReasonImmutable},
		{Name: "a key that somebody replaced is reported", Existing: keyPairOf(), Object: keyPairOf(), Drift: true, Before: replaced,
			Stalled: status.ReasonImmutable},
		{Name: "another name", Existing: keyPairOf(), Object: keyPairOf(func(s *keySpec) { s.KeyName = "other" }),
			Stalled: status.ReasonIdentityChanged},
	}
}

func keyDeletions() []kindtest.Case {
	orphan := keyPairOf(func(s *keySpec) { s.DeletionPolicy = v1alpha1.DeletionOrphan })
	return []kindtest.Case{
		{Name: "deleting", Existing: keyPairOf(), Object: keyPairOf(), Deleting: true, Drift: true, Cause: engine.Deleting,
			Actions: []string{removeKey}},
		{Name: "deleting what is gone", Existing: keyPairOf(), Object: keyPairOf(), Deleting: true, Drift: true, Before: deleteKey,
			Cause: engine.Gone},
		{Name: "Orphan removes the owner tags and nothing else", Existing: orphan, Object: orphan, Deleting: true, Drift: true,
			Cause: engine.Deleting, Diff: ownerPaths, Actions: []string{untag}},
	}
}

func keyLife(*testing.T) kindtest.Life {
	return kindtest.Life{
		Sample:  keyPairOf(keyTag("team", "a")),
		Foreign: existingKey(aPublicKey, map[string]string{"theirs": "1"}),
		Exists:  func(t *testing.T, r *kindtest.Rig) bool { t.Helper(); return len(keyPairs(t, r)) > 0 },
		Edited:  keyPairOf(keyTag("team", "b")),
		Invalid: []v1alpha1.Resource{keyPairOf(privateKeyInSecret)},
	}
}

func TestKeyPairSurvivesFaults(t *testing.T) {
	kindtest.Faults(t, engine.For(NewKeyPair), keyLife(t))
}

func TestKeyPairSurvivesLag(t *testing.T) {
	kindtest.Lag(t, engine.For(NewKeyPair), keyLife(t))
}

func TestKeyPairCosts(t *testing.T) {
	s := kindtest.NewSubject(kindtest.NewRig(t), engine.For(NewKeyPair), keyPairOf())
	// the import and a look; a look; a look, the deletion and a look
	costs(t, s, [2]int{2, 1}, [2]int{1, 0}, [2]int{3, 1})
}

func TestAKeyPairHasTheNameOfItsObjectByDefault(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewKeyPair), keyPairOf(func(s *keySpec) { s.KeyName = "" }))
	kindtest.Settled(t, s)
	if k := keyPairs(t, r); len(k) != 1 || *k[0].KeyName != s.Object.GetName() {
		t.Errorf("%+v", k)
	}
}

func TestPublishedFieldsOfAKeyPair(t *testing.T) {
	r := kindtest.NewRig(t)
	s := kindtest.NewSubject(r, engine.For(NewKeyPair), keyPairOf())
	kindtest.Settled(t, s)
	st, k := s.Object.(*v1alpha1.EC2KeyPair).Status, keyPairs(t, r)[0]
	if st.KeyPairID != *k.KeyPairId || !strings.HasPrefix(st.KeyPairID, "key-") || st.KeyName != keyName || st.ID != keyName ||
		st.KeyFingerprint != *k.KeyFingerprint || st.KeyType != "ed25519" ||
		st.ARN != "arn:aws:ec2:"+kindtest.Region+":"+kindtest.Account+":key-pair/"+keyName {
		t.Errorf("%+v", st)
	}
	if a := any(s.Object).(kind.Referable).ReferableAttributes(); a["keyPairID"] != st.KeyPairID {
		t.Error(a)
	}
}
