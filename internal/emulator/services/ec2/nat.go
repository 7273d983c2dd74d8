// SPDX-License-Identifier: Apache-2.0

package ec2

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nexus-operator/nexus-operator/internal/emulator/proxy"
)

// natGateways holds the state of NAT gateways that moto lacks.
type natGateways struct {
	takes time.Duration          // how long they are pending, and deleting
	known map[string]*natGateway // by identity
}

type natGateway struct {
	id               string
	created, deleted time.Time
	failure          string // why AWS could not create it, as XML
	finished         bool   // its address and its network interface are free
}

// SetNATGatewayTakes lets NAT gateways be pending for so long after their creation and deleting for so long after their
// deletion, while they keep their address and their network interface. Zero ends it.
func (s *Service) SetNATGatewayTakes(d time.Duration) { s.Locked(func() { s.gateways.takes = d }) }

// natItem is a NAT gateway in an answer.
type natItem struct {
	Inner     []byte `xml:",innerxml"`
	ID        string `xml:"natGatewayId"`
	VPC       string `xml:"vpcId"`
	Type      string `xml:"connectivityType"`
	Addresses []struct {
		PublicIP  string `xml:"publicIp"`
		Interface string `xml:"networkInterfaceId"`
	} `xml:"natGatewayAddressSet>item"`
	Tags []struct {
		Key   string `xml:"key"`
		Value string `xml:"value"`
	} `xml:"tagSet>item"`
}

// motoNATGateways returns the NAT gateways in an answer of moto.
func motoNATGateways(a *proxy.Answer) ([]natItem, error) {
	var body struct {
		Listed []natItem `xml:"natGatewaySet>item"`
		Made   []natItem `xml:"natGateway"`
	}
	err := xml.Unmarshal(a.Body, &body)
	return append(body.Listed, body.Made...), err
}

// repeatCreation: moto ignores the client token. AWS answers a repeated request with the resource that it made before.
// https://docs.aws.amazon.com/AWSEC2/latest/APIReference/Run_Instance_Idempotency.html
func (s *Service) repeatCreation(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if made := s.made[s.Identity(x, "ec2", x.Form.Get("ClientToken"))]; made != nil {
		return made.Clone()
	}
	return nil
}

// recordNATGateway: a public gateway in a VPC without an internet gateway fails, with the code Gateway.NotAttached.
// https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-troubleshooting.html
func (s *Service) recordNATGateway(ctx context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	items, err := motoNATGateways(a)
	if !a.OK() || err != nil || len(items) == 0 {
		return a
	}
	g, failure := items[0], ""
	if g.Type != "private" {
		n, err := s.countEC2(ctx, x, ec2Read{"DescribeInternetGateways", "attachment.vpc-id"}, g.VPC)
		if err != nil {
			return proxy.ProxyError(x, err)
		}
		if n == 0 {
			failure = "<failureCode>Gateway.NotAttached</failureCode><failureMessage>Network " + g.VPC +
				" has no Internet gateway attached</failureMessage>"
		}
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.gateways.known[s.Identity(x, "ec2", g.ID)] = &natGateway{id: g.ID, created: s.Now(), failure: failure}
	a = a.WithBody(motoState.ReplaceAll(a.Body, []byte("<state>pending</state>")))
	if token := x.Form.Get("ClientToken"); token != "" {
		s.made[s.Identity(x, "ec2", token)] = a.Clone()
	}
	return a
}

// refuseUnknownNATGateway: moto fails in the deletion of a gateway that it does not know.
func (s *Service) refuseUnknownNATGateway(_ context.Context, x *proxy.Exchange) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	g := s.gateways.known[s.Identity(x, "ec2", x.Form.Get("NatGatewayId"))]
	if g == nil || g.isDeleted(s.Now(), s.gateways.takes) {
		return proxy.NotFoundAnswer(x.Request)
	}
	return nil
}

func (s *Service) recordNATGatewayDeletion(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if g := s.gateways.known[s.Identity(x, "ec2", x.Form.Get("NatGatewayId"))]; a.OK() && g != nil && g.deleted.IsZero() {
		g.deleted = s.Now()
	}
	return a
}

func (g *natGateway) isDeleted(now time.Time, takes time.Duration) bool {
	return !g.deleted.IsZero() && now.Sub(g.deleted) >= takes
}

// state is the state that AWS shows.
// https://docs.aws.amazon.com/vpc/latest/userguide/nat-gateway-basics.html
func (g *natGateway) state(now time.Time, takes time.Duration) string {
	switch {
	case g.isDeleted(now, takes):
		return "deleted"
	case !g.deleted.IsZero():
		return "deleting"
	case now.Sub(g.created) < takes:
		return "pending"
	case g.failure != "":
		return "failed"
	default:
		return "available"
	}
}

// finishNATGateways: moto keeps the address and the network interface of a gateway that it deletes.
func (s *Service) finishNATGateways(ctx context.Context, x *proxy.Exchange) *proxy.Answer {
	for _, id := range s.endedNATGateways(x) {
		if err := s.finishNATGateway(ctx, x, id); err != nil {
			return proxy.ProxyError(x, err)
		}
	}
	return nil
}

// endedNATGateways returns, once, the gateways of the account and the region that have failed or were deleted.
func (s *Service) endedNATGateways(x *proxy.Exchange) (ids []string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for identity, g := range s.gateways.known {
		if state := g.state(s.Now(), s.gateways.takes); !g.finished && (state == "deleted" || state == "failed") &&
			strings.HasPrefix(identity, s.Identity(x, "ec2", "")) {
			g.finished, ids = true, append(ids, g.id)
		}
	}
	return ids
}

func (s *Service) finishNATGateway(ctx context.Context, x *proxy.Exchange, id string) error {
	a, err := s.askEC2(ctx, x, url.Values{"Action": {"DescribeNatGateways"}, "NatGatewayId.1": {id}})
	if err != nil {
		return err
	}
	items, err := motoNATGateways(a)
	for _, item := range items {
		for _, address := range item.Addresses {
			if address.PublicIP != "" {
				_, failed := s.askEC2(ctx, x, url.Values{"Action": {"DisassociateAddress"}, "PublicIp": {address.PublicIP}})
				err = errors.Join(err, failed)
			}
			_, failed := s.askEC2(ctx, x, url.Values{"Action": {"DeleteNetworkInterface"}, "NetworkInterfaceId": {address.Interface}})
			err = errors.Join(err, failed)
		}
	}
	return err
}

var (
	motoState  = regexp.MustCompile(`<state>[^<]*</state>`)
	listedNATs = regexp.MustCompile(`(?s)<natGatewaySet>.*</natGatewaySet>|<natGatewaySet\s*/>`)
)

// showNATGateways: moto ignores filters by tags and identifiers that do not exist, and knows no states between available and
// deleted.
func (s *Service) showNATGateways(_ context.Context, x *proxy.Exchange, a *proxy.Answer) *proxy.Answer {
	items, err := motoNATGateways(a)
	if !a.OK() || err != nil {
		return a
	}
	if len(items) == 0 && x.Form.Get("NatGatewayId.1") != "" {
		return proxy.NotFoundAnswer(x.Request)
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	var body strings.Builder
	for _, item := range items {
		if !item.isSelected(x.Form) {
			continue
		}
		inner := string(item.Inner)
		if g := s.gateways.known[s.Identity(x, "ec2", item.ID)]; g != nil {
			state := g.state(s.Now(), s.gateways.takes)
			inner = motoState.ReplaceAllLiteralString(inner, "<state>"+state+"</state>")
			if state == "failed" {
				inner += g.failure
			}
		}
		body.WriteString("<item>" + inner + "</item>")
	}
	return a.WithBody(listedNATs.ReplaceAllLiteral(a.Body, []byte("<natGatewaySet>"+body.String()+"</natGatewaySet>")))
}

// isSelected reports whether the gateway has the tags that the filters ask for.
func (item natItem) isSelected(form url.Values) bool {
	for i := 1; form.Get(fmt.Sprintf("Filter.%d.Name", i)) != ""; i++ {
		key, isTag := strings.CutPrefix(form.Get(fmt.Sprintf("Filter.%d.Name", i)), "tag:")
		var values []string
		for j := 1; form.Get(fmt.Sprintf("Filter.%d.Value.%d", i, j)) != ""; j++ {
			values = append(values, strings.ReplaceAll(form.Get(fmt.Sprintf("Filter.%d.Value.%d", i, j)), `\`, ""))
		}
		has := func() bool {
			for _, t := range item.Tags {
				if t.Key == key && slices.Contains(values, t.Value) {
					return true
				}
			}
			return false
		}
		if isTag && !has() {
			return false
		}
	}
	return true
}
