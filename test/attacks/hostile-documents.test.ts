import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { CallResult } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";
import { expectWellFormed, longestBlockOf, within } from "./support.js";

interface Member {
  readonly name: string;
  readonly data: Buffer | string;
  /** What the directory claims instead of the truth. */
  readonly claimedSize?: number;
  readonly encrypted?: boolean;
}

/** A ZIP container, honest or not. */
function zip(members: readonly Member[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const member of members) {
    const plain = Buffer.from(member.data);
    const packed = deflateRawSync(plain);
    const name = Buffer.from(member.name);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(member.encrypted === true ? 1 : 0, 2);
    fields.writeUInt16LE(8, 4);
    fields.writeUInt32LE(crc32(plain), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(member.claimedSize ?? plain.length, 18);
    fields.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), fields, name, packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\0", "latin1"), fields, tail, name]));
    parts.push(local);
    offset += local.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, index, end]);
}

const document = (xml: string, extra: Partial<Member> = {}): Buffer =>
  zip([{ name: "word/document.xml", data: xml, ...extra }]);

function workbook(sheet: string, shared = ""): Buffer {
  return zip([
    { name: "xl/workbook.xml", data: '<workbook><sheets><sheet name="S" r:id="r1"/></sheets></workbook>' },
    { name: "xl/_rels/workbook.xml.rels", data: '<Relationship Id="r1" Target="worksheets/s.xml"/>' },
    { name: "xl/sharedStrings.xml", data: shared },
    { name: "xl/worksheets/s.xml", data: sheet },
  ]);
}

async function read(file: string, bytes: Buffer): Promise<{ result: CallResult; block: number }> {
  const { runtime, cwd } = await testRuntime([], { builtins: true });
  writeFileSync(join(cwd, file), bytes);
  const session = await runtime.openSession();
  await session.call({ name: "read_file", arguments: { path: "warm" } });
  let result: CallResult | "hangs" = "hangs";
  const block = await longestBlockOf(async () => {
    result = await within(20_000, session.call({ name: "read_file", arguments: { path: file, limit: 3 } }));
  });
  if ((result as CallResult | "hangs") === "hangs") throw new Error("reading never ended");
  expectWellFormed(result as unknown as CallResult);
  return { result: result as unknown as CallResult, block };
}

describe("documents made to hurt", () => {
  it("an honest one is read, with its entities and nothing else", async () => {
    const { result } = await read(
      "a.docx",
      document("<w:p><w:t>a &lt;b&gt; &constructor; &toString; &#x41;&#0;</w:t></w:p>"),
    );
    expect((result.structured as { content: string }).content).toBe("1|a <b> &constructor; &toString; A&#0;");
  });

  it.each<[string, string, () => Buffer]>([
    [
      "a bomb of a quarter of a gigabyte",
      "b.docx",
      () => document("", { data: Buffer.alloc(256 * 1024 ** 2) }),
    ],
    [
      "a bomb that claims to be small",
      "b.docx",
      () => document("", { data: Buffer.alloc(200 * 1024 ** 2), claimedSize: 10 }),
    ],
    ["one that claims to be enormous", "b.docx", () => document("<w:p>x</w:p>", { claimedSize: 0xfffffff0 })],
    [
      "one text named a million times",
      "b.xlsx",
      () =>
        workbook(
          `${'<c t="s"><v>0</v></c>'.repeat(400)}</row>`.replace(/^/, "<row>").repeat(2_000),
          `<si><t>${"x".repeat(500_000)}</t></si>`,
        ),
    ],
    [
      "rows that begin in the last column",
      "b.xlsx",
      () => workbook('<row><c r="XFD1"><v>1</v></c></row>'.repeat(500_000)),
    ],
    [
      "a container cut in half",
      "b.docx",
      () => {
        const whole = document("<w:p><w:t>x</w:t></w:p>".repeat(100));
        return whole.subarray(0, whole.length / 2);
      },
    ],
    [
      "a directory that points outside",
      "b.docx",
      () => {
        const whole = document("<w:p>x</w:p>");
        whole.writeUInt32LE(0x7fffffff, whole.length - 6);
        return whole;
      },
    ],
    ["an encrypted member", "b.docx", () => document("<w:p>x</w:p>", { encrypted: true })],
    [
      "twenty thousand members",
      "b.docx",
      () => zip(Array.from({ length: 20_000 }, (_each, index) => ({ name: `m${index}`, data: "" }))),
    ],
    ["nothing but an end", "b.docx", () => zip([])],
    [
      "bytes after the magic",
      "b.xlsx",
      () => Buffer.concat([Buffer.from("PK\x05\x06"), Buffer.alloc(300, 0xff)]),
    ],
  ])(
    "%s is refused with a reason",
    async (_what, name, make) => {
      const { result } = await read(name, make());
      expect(result.ok).toBe(false);
      expect(result.error?.message).toMatch(/not a readable \.(docx|xlsx)|too large/);
    },
    60_000,
  );

  it("markup made for backtracking is read in linear time", async () => {
    const gap = "\n".repeat(300_000);
    for (const xml of [
      `<w:p><w:t>a</w:t>${gap}b</w:p>`,
      `<w:p>${"<w:p ".repeat(50_000)}</w:p>`,
      `<w:p>${"&a".repeat(200_000)}</w:p>`,
      `<w:p><?${"x".repeat(500_000)}</w:p>`,
    ]) {
      const { block } = await read("r.docx", document(xml));
      expect(block).toBeLessThan(1_500);
    }
  }, 60_000);
});
