// SPDX-License-Identifier: Apache-2.0

package awsproxy_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// moto fails when it goes through its resources while another request adds one; the answer looks as if it lacked the operation.
func TestConcurrentCreates_AreAllAnswered(t *testing.T) {
	p := proxy(t)
	c := clientsOf(p.URL())
	const workers, each = 8, 60
	var running sync.WaitGroup
	for i := range workers {
		running.Go(func() {
			for n := range each {
				name := fmt.Sprintf("secret-%d-%d", i, n)
				if _, err := c.secrets.CreateSecret(t.Context(), &secretsmanager.CreateSecretInput{Name: &name, SecretString: aws.String("x")}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	running.Wait()
}
