// SPDX-License-Identifier: Apache-2.0

package intent

import (
	"net/netip"
	"slices"
)

// vpcNetworks lists the networks that contain the addresses of VPC endpoints, and reservedNetworks other ones without public IPv4
// addresses.
var (
	vpcNetworks      = prefixesOf([]string{"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"})
	reservedNetworks = prefixesOf([]string{"0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3"})
)

// publicIPv6 holds all public addresses of IPv6.
var publicIPv6 = netip.MustParsePrefix("2000::/3")

// prefixesOf reads networks that are known to be valid.
func prefixesOf(texts []string) []netip.Prefix {
	var out []netip.Prefix
	for _, t := range texts {
		if p, err := netip.ParsePrefix(t); err == nil {
			out = append(out, p.Masked())
		}
	}
	return out
}

// isPrivate reports whether a network lies in those of VPC endpoints.
func isPrivate(p netip.Prefix) bool {
	return slices.ContainsFunc(vpcNetworks, func(n netip.Prefix) bool { return n.Bits() <= p.Bits() && n.Contains(p.Addr()) })
}

// coverPublic reports whether networks together hold all public addresses: of IPv4 or, where that is asked for, of IPv6.
func coverPublic(networks []netip.Prefix, ipv6 bool) bool {
	if ipv6 && cover(networks, publicIPv6) {
		return true
	}
	return cover(slices.Concat(networks, vpcNetworks, reservedNetworks), netip.MustParsePrefix("0.0.0.0/0"))
}

// cover reports whether networks together hold every address of another one: one of them does, or they cover both halves.
func cover(networks []netip.Prefix, all netip.Prefix) bool {
	var within []netip.Prefix
	for _, n := range networks {
		switch {
		case !n.Overlaps(all):
		case n.Bits() <= all.Bits():
			return true
		default:
			within = append(within, n)
		}
	}
	if len(within) == 0 {
		return false
	}
	low, high := halves(all)
	return cover(within, low) && cover(within, high)
}

// halves are the two networks that a network consists of.
func halves(p netip.Prefix) (low, high netip.Prefix) {
	bits := p.Bits() + 1
	bytes := p.Masked().Addr().AsSlice()
	bytes[(bits-1)/8] |= 0x80 >> ((bits - 1) % 8)
	upper, _ := netip.AddrFromSlice(bytes)
	return netip.PrefixFrom(p.Addr(), bits).Masked(), netip.PrefixFrom(upper, bits)
}
