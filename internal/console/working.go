// SPDX-License-Identifier: Apache-2.0

package console

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// patience is the time until a terminal shows that a command is still working.
const patience = 2 * time.Second

// working shows on a line of a terminal how long a command has been at work, and its current task. Output of the command erases the line.
type working struct {
	mu      sync.Mutex
	line    Canvas
	to      io.Writer
	command string
	began   time.Time
	on      string
	// shown is true while the line stands on the terminal, over once the command has begun to print its result.
	shown, over bool
}

// note shows the object that the command works on. A nil receiver shows nothing.
func (w *working) note(on string) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.on = on
}

// draw writes the line anew.
func (w *working) draw(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	took := now.Sub(w.began)
	if w.over || took < patience {
		return
	}
	w.shown = true
	_, _ = io.WriteString(w.to,
		eraseLine+w.line.Cut(fmt.Sprintf("%s: at work for %s%s", w.command, took.Round(time.Second), Prefixed(", now on ", w.on))))
}

// eraseLine goes to the beginning of a terminal's line and empties it.
const eraseLine = "\r\x1b[K"

// erase makes room for other output; last ends the display.
func (w *working) erase(last bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.shown {
		_, _ = io.WriteString(w.to, eraseLine)
	}
	w.shown, w.over = false, w.over || last
}

// erasing is a stream of the command. Its output erases the line first.
type erasing struct {
	io.Writer
	work *working
	last bool
}

// Write implements io.Writer.
func (e erasing) Write(b []byte) (int, error) {
	e.work.erase(e.last)
	return e.Writer.Write(b)
}

// ShowWork shows on a terminal that a command is at work, until the function that it returns is called.
func (s *Console) ShowWork(command string) (stop func()) {
	to := s.terminal(s.ErrOut)
	if to == nil {
		return func() {}
	}
	return s.show(&working{to: to, line: Canvas{Width: widthOf(to)}, command: command, began: s.Clock.Now()})
}

// LookingAt shows the object that the command looks at.
func (s *Console) LookingAt(object string) { s.work.note(object) }

// show draws the line again and again until the function that it returns is called.
func (s *Console) show(w *working) (stop func()) {
	out, errOut := s.Out, s.ErrOut
	s.work, s.Out, s.ErrOut = w, erasing{out, w, true}, erasing{errOut, w, false}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		t := time.NewTicker(patience / 4)
		defer t.Stop()
		for {
			select {
			case <-ended:
				return
			case <-t.C:
				w.draw(s.Clock.Now())
			}
		}
	}()
	return func() {
		close(ended)
		<-done
		w.erase(true)
		s.Out, s.ErrOut = out, errOut
	}
}

// terminal returns the terminal that a stream is, if it may be drawn on; otherwise nil.
func (s *Console) terminal(stream io.Writer) *os.File {
	if e, ok := stream.(erasing); ok {
		stream = e.Writer
	}
	f, isFile := stream.(*os.File)
	if !isFile || s.Getenv("CI") != "" || s.Getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return f
}

// widthOf is the number of columns of a terminal; 0 if it does not say.
func widthOf(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}
