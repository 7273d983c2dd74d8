// Package awsproxy is a stub.
package awsproxy

type Proxy struct{}

func Start(string) (*Proxy, error) { return &Proxy{}, nil }
func (p *Proxy) Close() error      { return nil }
