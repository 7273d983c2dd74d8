// SPDX-License-Identifier: Apache-2.0

package controller_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	ssmapi "github.com/aws/aws-sdk-go-v2/service/ssm"
	ssmtypes "github.com/aws/aws-sdk-go-v2/service/ssm/types"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/nexus-operator/nexus-operator/api/aws/v1alpha1"
	nexusv1 "github.com/nexus-operator/nexus-operator/api/nexus/v1"
	"github.com/nexus-operator/nexus-operator/internal/awsclient"
	"github.com/nexus-operator/nexus-operator/internal/emulator"
	"github.com/nexus-operator/nexus-operator/internal/engine"
	"github.com/nexus-operator/nexus-operator/internal/kinds/ssm"
	"github.com/nexus-operator/nexus-operator/internal/status"
	"github.com/nexus-operator/nexus-operator/internal/testkit/extent"
	"github.com/nexus-operator/nexus-operator/internal/testkit/world"
)

var pacedParameters = regexp.MustCompile(`paced by the SSM quota: (\d+) parameters left`)

// parametersLeft reads from the set's condition Reconciling how many parameters wait for the rate limit.
func parametersLeft(set *v1alpha1.SSMParameterSet) (int, error) {
	c := meta.FindStatusCondition(set.Status.Conditions, status.Reconciling)
	if c == nil || c.Status != metav1.ConditionTrue || c.Reason != status.ReasonThrottled {
		return 0, fmt.Errorf("condition Reconciling: %+v", c)
	}
	found := pacedParameters.FindStringSubmatch(c.Message)
	if found == nil {
		return 0, fmt.Errorf("message %q", c.Message)
	}
	return strconv.Atoi(found[1])
}

func TestParametersThatWaitForTheQuotaAreCounted(t *testing.T) {
	extent.Full(t)
	h := start(t, "--aws-rates=ssm.PutParameter=2/1")
	c := example("paced")
	set := &v1alpha1.SSMParameterSet{ObjectMeta: metav1.ObjectMeta{Namespace: "paced", Name: "paced-dev"}}
	h.create(c)
	count := func() (int, error) {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(set), set); err != nil {
			return 0, err
		}
		return parametersLeft(set)
	}
	first := 0
	h.eventually("the set to be paced", func() (err error) {
		first, err = count()
		return err
	})
	if n := len(set.Spec.Parameters); first < 1 || first > n {
		t.Errorf("%d of %d parameters are left when the first has to wait", first, n)
	}
	h.eventually("the capability to say so", func() error {
		if err := h.c.Get(h.ctx(), client.ObjectKeyFromObject(c), c); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(c.Status.Conditions, nexusv1.ConditionParametersReady)
		if ready == nil || !pacedParameters.MatchString(ready.Message) {
			return fmt.Errorf("condition %+v", ready)
		}
		return nil
	})
	h.eventually("fewer parameters to be left", func() error {
		if n, err := count(); err != nil || n >= first {
			return fmt.Errorf("%d left (%v)", n, err)
		}
		return nil
	})
	h.shows(set, status.Ready, "True", status.ReasonReady)
	h.remove(c)
	if s := h.left(); s != "" {
		t.Errorf("left over: %s", s)
	}
}

// putter makes calls of PutParameter through a session with the default rates.
func putter(t *testing.T) *ssmapi.Client {
	t.Helper()
	w := world.Shared(t)
	if err := w.ResetAWS(t.Context()); err != nil {
		t.Fatal(err)
	}
	sessions := awsclient.NewSessions(awsclient.Options{Now: time.Now})
	t.Cleanup(sessions.Close)
	t.Setenv("AWS_REGION", "ap-southeast-1")
	session, err := sessions.Open(t.Context(), awsclient.Identity{Key: "k", Region: "ap-southeast-1", Endpoint: w.AWS().URL(),
		Static: &awsclient.StaticKeys{AccessKeyID: "AKIAIOSFODNN7EXAMPLE", SecretAccessKey: awsclient.NewSecret("secret")}})
	if err != nil {
		t.Fatal(err)
	}
	return ssmapi.NewFromConfig(session.Config)
}

// putAll writes n parameters at the same time and returns how long that took.
func putAll(ctx context.Context, c *ssmapi.Client, n int) (time.Duration, error) {
	var group errgroup.Group
	start := time.Now()
	for i := range n {
		group.Go(func() error {
			_, err := c.PutParameter(ctx,
				&ssmapi.PutParameterInput{Name: aws.String(fmt.Sprintf("/paced/%d", i)), Value: aws.String("v"), Type: ssmtypes.ParameterTypeString,
					Overwrite: aws.Bool(true)})
			return err
		})
	}
	err := group.Wait()
	return time.Since(start), err
}

func TestHigherThroughputIsReadOnceAndOnlyWhenCallsWait(t *testing.T) {
	extent.Full(t)
	// Twelve calls more than the burst take four seconds at 3/s, less the time of the burst itself, and 1.2 at 10/s.
	const burst, more, divide = 30, 12, 2 * time.Second
	if optional := engine.For(ssm.NewParameterSet).Meta().Optional; !slices.Contains(optional, "ssm:GetServiceSetting") {
		t.Errorf("the kind does not declare the permission: %v", optional)
	}
	for name, tc := range map[string]struct {
		prepare func(*emulator.Proxy)
		fast    bool
	}{
		"turned on": {func(p *emulator.Proxy) { p.SSM.SetHigherThroughput(true) }, true},
		"left off":  {func(p *emulator.Proxy) { p.SSM.SetHigherThroughput(false) }, false},
		"access is denied": {func(p *emulator.Proxy) {
			p.SSM.SetHigherThroughput(true)
			p.Fault(emulator.Match{Service: "ssm", Op: "GetServiceSetting"},
				emulator.Fail(400, "AccessDeniedException", "not authorized to perform: ssm:GetServiceSetting"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			c, p := putter(t), world.Shared(t).AWS()
			tc.prepare(p)
			reads := func() int { return p.Calls().Match("ssm", "GetServiceSetting", "*").Count() }
			if _, err := putAll(t.Context(), c, burst); err != nil || reads() != 0 {
				t.Fatalf("%v, %d reads before a call had to wait", err, reads())
			}
			took, err := putAll(t.Context(), c, more)
			if err != nil || tc.fast != (took < divide) {
				t.Errorf("%d calls took %s (%v), want less than %s: %v", more, took, err, divide, tc.fast)
			}
			if _, err := putAll(t.Context(), c, 2); err != nil || reads() != 1 {
				t.Errorf("%v, %d reads:\n%s", err, reads(), strings.TrimSpace(p.Calls().String()))
			}
		})
	}
}
