// SPDX-License-Identifier: Apache-2.0

package world

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"

	"github.com/nexus-operator/nexus-operator/internal/osproc"
)

// Ports are taken below the kernel's range for outgoing connections, and reserved by a lock file among the worlds of this machine: between
// our probing a port and a component's binding it no other process gets it.
const (
	firstPort = 20000
	lastPort  = 32000
)

// portLock is a reserved port; the kernel frees it if this process dies.
type portLock struct {
	port int
	file *os.File
}

func reservePort() (*portLock, error) {
	dir := filepath.Join(os.TempDir(), "nexus-bed-ports")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	for range 200 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		f, err := os.OpenFile(filepath.Join(dir, fmt.Sprint(port)), os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			return nil, err
		}
		locked, err := osproc.TryLock(f)
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		if locked && free(port) {
			return &portLock{port, f}, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("no free port between %d and %d", firstPort, lastPort)
}

func (l *portLock) release() { l.file.Close() }

// FreeAddress returns an address of this machine on which a test may start a server. Until the end of the test, no world and no other
// caller gets its port, and no outgoing connection of another process has it.
func FreeAddress(t cleaner) string {
	t.Helper()
	address, release, err := ReserveAddress()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return address
}

// ReserveAddress is FreeAddress for programs: the port is reserved until it is released or the process ends.
func ReserveAddress() (address string, release func(), err error) {
	p, err := reservePort()
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("127.0.0.1:%d", p.port), p.release, nil
}

func free(port int) bool {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	listener.Close()
	return true
}
