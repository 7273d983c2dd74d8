// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"cmp"
	"context"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/kind"
)

// KeyPairState is a key pair as both the spec and EC2 can express it.
type KeyPairState struct {
	Name        string `drift:"identity"`
	ARN         string `drift:"id"`
	ID          string `drift:"observed"`
	Fingerprint string `drift:"observed"`
	Type        string `drift:"observed"`

	// PublicKey is the type and the key, without the comment: EC2 answers with another one.
	PublicKey *string           `drift:"immutable"`
	Tags      map[string]string `drift:"tags"`
}

type keyPair struct{ api *ec2.Client }

// NewKeyPair binds the EC2KeyPair kind to an identity. Its IAM actions:
// https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
func NewKeyPair(cfg aws.Config) kind.Kind[*v1alpha1.EC2KeyPair, KeyPairState] {
	k := &keyPair{api: ec2.NewFromConfig(cfg)}
	return kind.FromTable(kind.Table[*v1alpha1.EC2KeyPair, KeyPairState]{
		Meta: kind.Meta{Facts: keyPairFacts(), Identity: kind.ByName, CreatesFirst: true},
		Identify: func(sc kind.Scope, cr *v1alpha1.EC2KeyPair) (KeyPairState, error) {
			name := cmp.Or(cr.Spec.KeyName, cr.Name)
			return KeyPairState{Name: name, ARN: arnPrefix(sc, "key-pair") + name}, nil
		},
		Declare: func(_ kind.Scope, cr *v1alpha1.EC2KeyPair, want *KeyPairState) error {
			want.PublicKey = publicKey(&cr.Spec.PublicKeyMaterial)
			return nil
		},
		Export: kind.Export[*v1alpha1.EC2KeyPair, KeyPairState]{Identity: []string{"keyName"}, Spec: exportedKeyPair},
		Publish: func(cr *v1alpha1.EC2KeyPair, s KeyPairState) {
			st := &cr.Status
			st.ID, st.ARN, st.KeyName, st.KeyPairID, st.KeyFingerprint, st.KeyType = s.Name, s.ARN, s.Name, s.ID, s.Fingerprint, s.Type
		},
		Describe: kind.Read[KeyPairState]{Actions: []string{"ec2:DescribeKeyPairs"}, Do: k.describe},
		Create: kind.Call[KeyPairState]{Action: "ec2:ImportKeyPair", Do: kind.Send(k.api.ImportKeyPair, func(want, _ KeyPairState) *ec2.ImportKeyPairInput {
			return &ec2.ImportKeyPairInput{KeyName: &want.Name, PublicKeyMaterial: []byte(aws.ToString(want.PublicKey)),
				TagSpecifications: tagSpecification(types.ResourceTypeKeyPair, want.Tags)}
		})},
		Tagging: tagging(k.api, func(s KeyPairState) string { return s.ID }),
		Delete: []kind.Ending[KeyPairState]{{Call: kind.Call[KeyPairState]{Action: "ec2:DeleteKeyPair", Effect: kind.Deletes,
			Do: kind.Send(k.api.DeleteKeyPair, func(_, have KeyPairState) *ec2.DeleteKeyPairInput {
				return &ec2.DeleteKeyPairInput{KeyName: &have.Name}
			})}}},
	})
}

// publicKey returns a public key in the format of OpenSSH without its comment; nil for none.
func publicKey(text *string) *string {
	parts := strings.Fields(aws.ToString(text))
	return kind.NonEmpty(aws.String(strings.Join(parts[:min(2, len(parts))], " ")))
}

func (k *keyPair) describe(ctx context.Context, want KeyPairState, _ kind.Look) (kind.Seen[KeyPairState], error) {
	out, err := awsclient.Lookup(ctx, k.api.DescribeKeyPairs, &ec2.DescribeKeyPairsInput{KeyNames: []string{want.Name}, IncludePublicKey: aws.Bool(true)})
	if out == nil || len(out.KeyPairs) == 0 {
		return kind.Seen[KeyPairState]{}, err
	}
	d := out.KeyPairs[0]
	return kind.Seen[KeyPairState]{Exists: true, Tags: kind.TagMap(d.Tags), Created: aws.ToTime(d.CreateTime), State: KeyPairState{
		Name: want.Name, ARN: want.ARN, ID: aws.ToString(d.KeyPairId), Fingerprint: aws.ToString(d.KeyFingerprint), Type: string(d.KeyType), PublicKey: publicKey(d.PublicKey)}}, nil
}
