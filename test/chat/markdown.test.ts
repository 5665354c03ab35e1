import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { cellWidth } from "../../src/base/cell-width.js";
import { MarkdownStream } from "../../src/cli/chat/markdown.js";
import { Output } from "../../src/cli/output.js";

const colours = new Output({}, { FORCE_COLOR: "1" });
const plain = new Output({ color: false }, {});

function rendered(text: string, { out = plain, columns = 80 } = {}): readonly string[] {
  const stream = new MarkdownStream(out, () => columns);
  return [...stream.feed(text), ...stream.end()];
}

const DOCUMENT = `# Title

Some **bold**, *slanted*, \`code\`, ~~gone~~ and [a link](https://example.com).

- one
- two that is so long that it has to be broken
  1. inner

> quoted

\`\`\`ts
const a = "**not bold**";
\`\`\`

| name | 数 |
| --- | --- |
| a | 1 |
| longer | 漢字 |

---
The end.`;

it("shows what a person would expect", () => {
  expect(rendered(DOCUMENT, { columns: 40 })).toEqual([
    "Title",
    "",
    "Some bold, slanted, code, gone and a",
    "link (https://example.com).",
    "",
    "• one",
    "• two that is so long that it has to be",
    "  broken",
    "  1. inner",
    "",
    "│ quoted",
    "",
    '  const a = "**not bold**";',
    "",
    "name    数",
    "a       1",
    "longer  漢字",
    "",
    "─".repeat(39),
    "The end.",
  ]);
});

it("is the same however it was cut into pieces, and what is finished does not change", () => {
  const whole = rendered(DOCUMENT, { out: colours, columns: 40 });
  for (const size of [1, 3, 7, 50]) {
    const stream = new MarkdownStream(colours, () => 40);
    const rows: string[] = [];
    for (let at = 0; at < DOCUMENT.length; at += size) {
      rows.push(...stream.feed(DOCUMENT.slice(at, at + size)));
      expect(whole.slice(0, rows.length)).toEqual(rows);
    }
    expect([...rows, ...stream.end()]).toEqual(whole);
  }
});

it("no row is wider than the terminal, and each is painted by itself", () => {
  for (const columns of [12, 20, 33, 60]) {
    for (const row of rendered(DOCUMENT.replaceAll("\n\n", "\n"), { out: colours, columns })) {
      expect(cellWidth(row)).toBeLessThan(columns);
      const opened = row.match(/\u001b\[(?:1|2|3|4|9|36)m/g)?.length ?? 0;
      const closed = row.match(/\u001b\[(?:22|23|24|29|39)m/g)?.length ?? 0;
      expect(closed).toBe(opened);
    }
  }
});

it.for(["snake_case_name and 2 * 3 * 4", "**not closed", "a * b", "[no link] (here)", "5 < 6 `"])(
  "leaves alone what is no markup: %s",
  (text) => {
    expect(rendered(text)).toEqual([text]);
  },
);

it("what a model writes steers no terminal", () => {
  const [row = ""] = rendered("\u001b[2J\u001b]0;title\u0007 and\u202e more", { out: colours });
  expect(stripVTControlCharacters(row)).toBe(row);
  expect(row).toContain("\\u{1b}[2J");
});

it("shows the line that is being written, and what is there of a table", () => {
  const stream = new MarkdownStream(plain, () => 40);
  stream.feed("done\n| a | b |\n| - | - |\n| 1 ");
  expect(stream.pending()).toEqual(["a  b", "| 1"]);
});
