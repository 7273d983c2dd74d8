// SPDX-License-Identifier: Apache-2.0

// EventParser reads the data of server-sent events out of a stream that is cut anywhere.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
export class EventParser {
  private rest = "";

  // feed returns the data of the events that end in a part of the stream.
  feed(part: string): string[] {
    const blocks = (this.rest + part).split("\n\n");
    this.rest = blocks.pop() ?? "";
    const out: string[] = [];
    for (const block of blocks) {
      const data = block
        .split("\n")
        .filter((line) => line.startsWith("data:"))
        .map((line) => line.slice(line.startsWith("data: ") ? 6 : 5));
      if (data.length) {
        out.push(data.join("\n"));
      }
    }
    return out;
  }
}
