// SPDX-License-Identifier: Apache-2.0

package cognito_test

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider"
	"github.com/aws/aws-sdk-go-v2/service/cognitoidentityprovider/types"

	kindcognito "github.com/nexus-operator/nexus-operator/internal/kinds/cognito"
	"github.com/nexus-operator/nexus-operator/internal/kindtest"
)

func TestUserPool_ImportsReadWhatNoPartReads(t *testing.T) {
	kindtest.ReadsSeparately(t, kindcognito.NewUserPool, kindcognito.UserPoolState{ID: "p",
		Found: types.UserPoolType{UserPoolAddOns: &types.UserPoolAddOnsType{AdvancedSecurityMode: types.AdvancedSecurityModeTypeEnforced}}},
		[]kindtest.Separate{
			{Setting: "identityProviders", Operation: "Cognito Identity Provider ListIdentityProviders",
				Output: &cognitoidentityprovider.ListIdentityProvidersOutput{Providers: make([]types.ProviderDescription, 1)}},
			{Setting: "logConfigurations", Operation: "Cognito Identity Provider GetLogDeliveryConfiguration",
				Output: &cognitoidentityprovider.GetLogDeliveryConfigurationOutput{LogDeliveryConfiguration: &types.LogDeliveryConfigurationType{LogConfigurations: make([]types.LogConfigurationType, 1)}}},
			{Setting: "resourceServers", Operation: "Cognito Identity Provider ListResourceServers",
				Output: &cognitoidentityprovider.ListResourceServersOutput{ResourceServers: make([]types.ResourceServerType, 1)}},
			{Setting: "riskConfiguration", Operation: "Cognito Identity Provider DescribeRiskConfiguration",
				Output: &cognitoidentityprovider.DescribeRiskConfigurationOutput{RiskConfiguration: &types.RiskConfigurationType{LastModifiedDate: aws.Time(time.Unix(1, 0))}}},
		})
}
