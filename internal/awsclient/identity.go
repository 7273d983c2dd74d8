// SPDX-License-Identifier: Apache-2.0

package awsclient

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/status"
)

// Identity holds all settings that decide the principal, the region and the endpoint of AWS calls.
type Identity struct {
	// Key is the cache key: it must differ whenever any other field here does. Callers make it of the provider's UID and generation and the
	// resourceVersions of its Secrets.
	Key string
	// Region says where resources live.
	Region string
	// Endpoint replaces the AWS endpoints; empty for AWS itself. Whether it is allowed is the caller's to check.
	Endpoint string
	// Static are long-lived or temporary keys; nil is the operator's ambient identity.
	Static *StaticKeys
	// RoleARN is the role to act as; used as is when the base identity already is that role.
	RoleARN string
	// AssumeRoleARN is a second hop, taken with the identity that RoleARN gave.
	AssumeRoleARN string
	// ExternalID is presented when a role is assumed; see the function ExternalID.
	ExternalID string
	// SessionName names role sessions in CloudTrail; see the function SessionName.
	SessionName string
	// SessionDuration of an assumed role, 15 minutes to 12 hours; 0 is one hour, which is also the most
	// that role chaining allows:
	// docs.aws.amazon.com/IAM/latest/UserGuide/id_roles.html#iam-term-role-chaining.
	SessionDuration time.Duration
}

// StaticKeys are an access key, and a session token if it is a temporary one.
type StaticKeys struct {
	AccessKeyID     string
	SecretAccessKey Secret
	SessionToken    Secret
}

// Secret is a string that shows itself to no one but Reveal: fmt, JSON, YAML, log and slog print
// stars. It holds a function rather than the text, because printers that look into unexported fields
// by reflection would find the text.
type Secret struct{ reveal func() string }

const stars = "***"

// NewSecret hides a value.
func NewSecret(value string) Secret { return Secret{reveal: func() string { return value }} }

// Reveal returns the value; empty for the zero Secret.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// String implements fmt.Stringer.
func (s Secret) String() string { return stars }

// GoString implements fmt.GoStringer.
func (s Secret) GoString() string { return stars }

// Format implements fmt.Formatter, for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(stars)) }

// MarshalText implements encoding.TextMarshaler, and so JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(stars), nil }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(stars) }

// MarshalLog implements logr.Marshaler.
func (s Secret) MarshalLog() any { return stars }

// sessionPrefix begins the names of the sessions of roles that the operator assumes.
const sessionPrefix = "nexus-"

// SessionName names the role sessions of a provider: nexus-<namespace>-<name>, within the 64 characters of [\w+=,.@-] that
// docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html allows; a longer name ends in 8 hex digits of a hash.
func SessionName(namespace, name string) string {
	const most = 64
	full := notSessionName.ReplaceAllString(sessionPrefix+namespace+"-"+name, "-")
	if len(full) <= most {
		return full
	}
	sum := digest("session-name", namespace, name)[:8]
	return full[:most-len(sum)-1] + "-" + sum
}

var notSessionName = regexp.MustCompile(`[^\w+=,.@-]`)

// ExternalID returns the external ID that the operator of one cluster presents when a provider assumes a role: permanent, and different for
// every provider, so that a role that trusts it cannot be borrowed by another provider:
// docs.aws.amazon.com/IAM/latest/UserGuide/confused-deputy.html. It is no secret.
func ExternalID(clusterID, namespace, name string) string {
	return "nexus-" + digest("external-id", clusterID, namespace, name)[:32]
}

// digest hashes parts so that no two lists of parts give the same.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

var roleARN = regexp.MustCompile(`^arn:(aws[a-z-]*):iam::(\d{12}):role/(?:.*/)?([\w+=,.@-]+)$`)

const (
	hour       = time.Hour
	minSession = 15 * time.Minute
	maxSession = 12 * hour
)

// check refuses values that the schema should have refused.
func (id Identity) check() error {
	switch {
	case id.Key == "":
		return status.Invalid("", "an identity needs a cache key")
	case id.Region == "":
		return status.Invalid("spec.region", "a region is required")
	case id.SessionDuration != 0 && (id.SessionDuration < minSession || id.SessionDuration > maxSession):
		return status.Invalid("spec.sessionDuration", "a session lasts 15m to 12h, not %s", id.SessionDuration)
	}
	for _, to := range id.hops() {
		if !roleARN.MatchString(to.role) {
			return status.Invalid(to.field, "%q is not the ARN of an IAM role", to.role)
		}
		if id.SessionName == "" {
			return status.Invalid("", "assuming a role needs a session name")
		}
	}
	return nil
}

// hop is a role to act as, and the field that names it.
type hop struct{ field, role string }

// hops are the roles to act as, in order.
func (id Identity) hops() []hop {
	var hops []hop
	if id.RoleARN != "" {
		hops = append(hops, hop{"spec.roleARN", id.RoleARN})
	}
	if id.AssumeRoleARN != "" {
		hops = append(hops, hop{"spec.assumeRoleARN", id.AssumeRoleARN})
	}
	return hops
}

// duration returns how long an assumed role lasts.
func (id Identity) duration() time.Duration {
	if id.SessionDuration == 0 {
		return hour
	}
	return id.SessionDuration
}

// caller says who STS says we are.
type caller struct{ arn, partition, account string }

// parseCaller reads an ARN of GetCallerIdentity.
func parseCaller(arn, account string) caller {
	c := caller{arn: arn, account: account, partition: "aws"}
	if part := strings.SplitN(arn, ":", 6); len(part) == 6 && part[0] == "arn" {
		c.partition = part[1]
	}
	return c
}

// is reports whether the caller is a session of that role. Session ARNs carry no path, and role names
// are unique in an account whatever their path.
func (c caller) is(role string) bool {
	partition, account, name, ok := roleOfSession(c.arn)
	want := roleARN.FindStringSubmatch(role)
	return ok && want != nil && partition == want[1] && account == want[2] && name == want[3]
}

// isRole reports whether the caller is a role session: assuming another role from it is role chaining.
func (c caller) isRole() bool {
	_, _, _, ok := roleOfSession(c.arn)
	return ok
}

var sessionARN = regexp.MustCompile(`^arn:(aws[a-z-]*):sts::(\d{12}):assumed-role/([\w+=,.@-]+)(?:/.*)?$`)

// roleOfSession reads arn:aws:sts::<account>:assumed-role/<role>/<session>.
func roleOfSession(arn string) (partition, account, role string, ok bool) {
	m := sessionARN.FindStringSubmatch(arn)
	if m == nil {
		return "", "", "", false
	}
	return m[1], m[2], m[3], true
}

// lastingARN returns the ARN of a caller without the name of a session that the operator did not name: those of EKS Pod Identity and
// of a ServiceAccount's token are other ones after each restart.
func lastingARN(arn string) string {
	session := arn[strings.LastIndexByte(arn, '/')+1:]
	if _, _, _, ok := roleOfSession(arn); !ok || strings.HasPrefix(session, sessionPrefix) {
		return arn
	}
	return strings.TrimSuffix(arn, "/"+session)
}
