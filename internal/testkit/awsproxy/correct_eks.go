// SPDX-License-Identifier: Apache-2.0

package awsproxy

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"net/url"
)

// networkOfCluster: moto does not say in which network the subnets of a cluster are:
// https://docs.aws.amazon.com/eks/latest/APIReference/API_VpcConfigResponse.html
func networkOfCluster(ctx context.Context, p *Proxy, x *exchange, a *answer) *answer {
	var body map[string]map[string]any
	if !a.ok() || json.Unmarshal(a.body, &body) != nil {
		return a
	}
	config, _ := body["cluster"]["resourcesVpcConfig"].(map[string]any)
	subnets := list(config["subnetIds"])
	if len(subnets) == 0 || config["vpcId"] != nil && config["vpcId"] != "" {
		return a
	}
	found, err := p.askEC2(ctx, &exchange{request: &request{accessKey: x.accessKey, region: x.region, service: "ec2"}}, url.Values{"Action": {"DescribeSubnets"}, "SubnetId.1": {subnets[0]}})
	var answered struct {
		VPC string `xml:"subnetSet>item>vpcId"`
	}
	if err != nil || xml.Unmarshal(found.body, &answered) != nil {
		return a
	}
	config["vpcId"] = answered.VPC
	if a.body, err = json.Marshal(body); err != nil {
		return a
	}
	a.header.Del("Content-Length")
	return a
}
