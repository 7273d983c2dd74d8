// SPDX-License-Identifier: Apache-2.0

package world

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// pollInterval is short: the awaited changes take tens of milliseconds.
const pollInterval = 25 * time.Millisecond

// poll calls check until it returns nil, a component that must live has died,
// or the context ends; the error then carries the reason of the last check and
// the end of the component's log.
func poll(ctx context.Context, p *process, check func(context.Context) error) error {
	for {
		if err := p.alive(); err != nil {
			return err
		}
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := check(attempt)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w; the end of its log:\n%s", p.name, err, p.tail())
		case <-time.After(pollInterval):
		}
	}
}

func (c *controlPlane) waitAPIServer(ctx context.Context, server *process) error {
	config, err := c.probeConfig()
	if err != nil {
		return err
	}
	client := &http.Client{Transport: config.Transport, Timeout: config.Timeout}
	return poll(ctx, server, func(ctx context.Context) error {
		return get(ctx, client, config.Host+"/readyz", config.UserAgent)
	})
}

// waitWrite waits until the API server has really written something: after etcd
// was killed /readyz may answer before the server has noticed.
func (c *controlPlane) waitWrite(ctx context.Context) error {
	config, err := c.probeConfig()
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	return poll(ctx, c.components.named(APIServer), func(ctx context.Context) error {
		namespaces := client.Resource(corev1.SchemeGroupVersion.WithResource("namespaces"))
		namespace, err := namespaces.Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
		if err != nil {
			return err
		}
		at := time.Now().Format(time.RFC3339Nano)
		if err := unstructured.SetNestedField(namespace.Object, at, "metadata", "annotations", "testbed.nexus.ai/written-at"); err != nil {
			return err
		}
		_, err = namespaces.Update(ctx, namespace, metav1.UpdateOptions{})
		return err
	})
}

// get returns an error for any answer but 200 OK.
func get(ctx context.Context, client *http.Client, url, userAgent string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("User-Agent", userAgent)
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // nothing more is read
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %s", url, answer.Status, text)
	}
	return err
}

// probeConfig has its own connections: one that a dying server left behind
// would be waited for instead of the new one.
func (c *controlPlane) probeConfig() (*rest.Config, error) {
	config := rest.CopyConfig(c.config)
	config.UserAgent = "test-bed-probe"
	config.Timeout = 3 * time.Second
	transport, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, err
	}
	config.TLSClientConfig = rest.TLSClientConfig{}
	config.Transport = &http.Transport{TLSClientConfig: transport, DisableKeepAlives: true}
	return config, nil
}

func (c *components) waitMoto(ctx context.Context) error {
	moto, url := c.named(Moto), c.loopback("http", portMoto)+"/moto-api/"
	err := poll(ctx, moto, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		request.Close = true
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		return answer.Body.Close()
	})
	if err != nil {
		return err
	}
	// The port was free and the process that was to bind it lives: it is ours.
	return moto.alive()
}
