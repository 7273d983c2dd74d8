// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/nexus-operator/nexus-operator/api/intent/v1alpha1"
)

// WayToAWS describes how pods reach AWS.
type WayToAWS struct {
	// IPv6 says that the pods have IPv6 addresses.
	IPv6 bool
	// SignIn is the host of STS that the pods call for their credentials; empty where the EKS Pod Identity Agent gives them.
	SignIn string
}

// ClosesEgressToAWS returns the remedy for a SecurityIntent that closes egress to AWS, TCP 443; it is empty if that egress is open. It is
// open if the intent names the networks of AWS (awsCIDRs, or private networks of VPC endpoints among allowEgressCIDRs), if its networks
// together cover all public addresses, or if it has the names of AWS and of STS. IPv6 networks open no egress for pods without IPv6
// addresses. Invalid parameters leave no egress open, and an intent that this function does not know closes the directions that its entry
// restricts.
func ClosesEgressToAWS(i *v1alpha1.SecurityIntent, way WayToAWS) string {
	if i == nil {
		return ""
	}
	r := ruleOf(i)
	e, _ := Lookup(r.ID)
	if r.Audit() || e.Restricts&Egress == 0 {
		return ""
	}
	if problem := e.Check(r.Params); problem != "" {
		return "correct its parameters (" + problem + ")"
	}
	switch e.ID {
	case "dnsManipulation", "denyExternalNetworkAccess":
		return way.closedNetworks(e.ID, r)
	case EgressToNames:
		return way.closedNames(r)
	default:
		return "take it out of spec.security"
	}
}

// closedNetworks returns the remedy for a rule about networks that closes egress to AWS.
func (w WayToAWS) closedNetworks(id string, r Rule) string {
	aws, outward := w.usable(r.Params["awsCIDRs"]), w.usable(r.Params["allowEgressCIDRs"])
	open := slices.Concat(w.usable(r.Params["allowCIDRs"]), outward)
	switch {
	case len(aws) > 0:
		return ""
	case id == "dnsManipulation" && r.Param("otherEgress", "deny") == "allow":
		return ""
	case id != "dnsManipulation" && (slices.ContainsFunc(outward, isPrivate) || coverPublic(open, w.IPv6)):
		return ""
	}
	return "set its parameter awsCIDRs to the networks at which the backend reaches AWS on port 443, STS included, " +
		"such as [10.20.0.0/16] of VPC endpoints or [0.0.0.0/0] for all"
}

// usable returns the networks of the IP families that the pods have addresses of.
func (w WayToAWS) usable(texts []string) []netip.Prefix {
	return slices.DeleteFunc(prefixesOf(texts), func(p netip.Prefix) bool { return p.Addr().Is6() && !w.IPv6 })
}

// closedNames returns the remedy for a rule about names that closes egress to AWS.
func (w WayToAWS) closedNames(r Rule) string {
	names := r.Params["names"]
	switch {
	case !slices.Contains(portsOfNames(r), httpsPort):
		return "add " + httpsPort + " to its parameter ports"
	case !slices.ContainsFunc(names, isAWSName):
		return "add the endpoints of AWS that the backend calls to its parameter names, " + w.exampleNames()
	case w.SignIn != "" && !slices.ContainsFunc(names, w.signsIn):
		return "add " + w.SignIn + ", where the pods get their credentials, to its parameter names"
	}
	return ""
}

// exampleNames are names to add; where the pods sign in at STS, that is among them.
func (w WayToAWS) exampleNames() string {
	if w.SignIn == "" {
		return "such as *.us-east-1.amazonaws.com for those of a region"
	}
	_, region, _ := strings.Cut(w.SignIn, ".")
	return w.SignIn + " among them, such as *." + region + " for those of the region"
}

// signsIn reports whether a name covers an endpoint of STS: the host that the pods call, or another one, such as that of a VPC endpoint,
// which settings of the application name.
func (w WayToAWS) signsIn(name string) bool {
	_, rest, _ := strings.Cut(w.SignIn, ".")
	labels := strings.Split(name, ".")
	return name == "*."+rest || isAWSName(name) && (slices.Contains(labels, "sts") || slices.Contains(labels, "sts-fips"))
}

// isAWSName reports whether a name is that of an endpoint of AWS, in any partition. Which of them an application calls, its
// author knows.
// https://docs.aws.amazon.com/general/latest/gr/rande.html
func isAWSName(name string) bool {
	return slices.ContainsFunc([]string{".amazonaws.com", ".amazonaws.com.cn", ".api.aws", ".amazonaws.eu"}, func(suffix string) bool {
		return strings.HasSuffix(name, suffix)
	})
}
