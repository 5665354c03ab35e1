import { createHash } from "node:crypto";
import {
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { PDFDocument, StandardFonts } from "pdf-lib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { renderMarks } from "../../../src/tool/marked-text.js";
import { ToolResult } from "../../../src/tool/result.js";
import readFileTool from "../../../src/tools/files/read-file.js";
import writeFileTool from "../../../src/tools/files/write-file.js";
import { testRuntime } from "../../support/runtime.js";
import {
  call,
  type Fields,
  type FileTestContext,
  failureOf,
  inAnotherSession,
  makeFileContext,
} from "./support.js";

const FIXTURES = join(import.meta.dirname, "../../fixtures/files");

let ctx: FileTestContext;
beforeEach(() => {
  ctx = makeFileContext();
});
afterEach(() => ctx.cleanUp());

const read = (args: Fields) => call(readFileTool, args, ctx);
const numbered = (count: number) =>
  Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

/** The file's text, put together again from what one page shows. */
function shownText(page: Fields): string {
  const lines = page.content === "" ? [] : String(page.content).split("\n");
  const ending = page.line_endings === "crlf" ? "\r\n" : "\n";
  const text = lines.map((line) => line.slice(line.indexOf("|") + 1) + ending).join("");
  return page.no_final_newline === true ? text.slice(0, -ending.length) : text;
}

describe("paging", () => {
  it("numbers lines and says how to go on", async () => {
    ctx.write("a.txt", numbered(300));
    const page = await read({ path: "a.txt", offset: 40, limit: 51 });
    expect(String(page.content).split("\n")[0]).toBe("40|line 40");
    expect(page).toMatchObject({
      success: true,
      status: "success",
      path: join(ctx.folder, "a.txt"),
      environment: "local",
      total_lines: 300,
      truncated: true,
      hint: "Lines 40–90 of 300; continue with offset=91.",
    });
  });

  it("clamps what lies outside instead of failing", async () => {
    ctx.write("a.txt", numbered(2500));
    expect(await read({ path: "a.txt", offset: -5, limit: 1 })).toMatchObject({ content: "1|line 1" });
    expect(await read({ path: "a.txt", limit: 99_999 })).toMatchObject({ lines: 2000 });
    expect(await read({ path: "a.txt", offset: 7, limit: 0 })).toMatchObject({ lines: 1 });
    expect(await read({ path: "a.txt", offset: 2.9, limit: 1 })).toMatchObject({ content: "2|line 2" });
    expect(await read({ path: "a.txt", offset: Number.NaN, limit: 3 })).toMatchObject({ lines: 3 });
  });

  it("an offset behind the end says how long the file is", async () => {
    ctx.write("a.txt", numbered(3));
    expect(await read({ path: "a.txt", offset: 10 })).toMatchObject({
      content: "",
      truncated: false,
      hint: expect.stringContaining("3 lines"),
    });
  });

  it("an empty file has no lines", async () => {
    ctx.write("empty.txt", "");
    expect(await read({ path: "empty.txt" })).toMatchObject({
      content: "",
      total_lines: 0,
      hint: "The file is empty.",
    });
  });

  it("paging with any limit gives back any file", async () => {
    const piece = fc.constantFrom("a", "|", "é", "😀", "\t", "\r", "\n", "\r\n", "\n", "x y", "\u2028", "7");
    const content = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));
    await fc.assert(
      fc.asyncProperty(content, fc.integer({ min: 1, max: 12 }), async (text, limit) => {
        const fresh = inAnotherSession(ctx);
        ctx.write("p.txt", text);
        let result = "";
        for (let offset = 1; ; offset += limit) {
          const page = await call(readFileTool, { path: "p.txt", offset, limit }, fresh);
          result += shownText(page);
          if (page.truncated !== true) break;
        }
        expect(result).toBe(text);
      }),
      { numRuns: 150 },
    );
  });
});

describe("limits", () => {
  it("cuts a long line, says so, and never splits a character", async () => {
    ctx.write("long.txt", `${"é".repeat(1999)}😀${"z".repeat(5000)}\nshort\n`);
    const page = await read({ path: "long.txt" });
    expect(page.cut_lines).toEqual([1]);
    expect(String(page.content)).toMatch(/^1\|é{1999}… \[cut: the line has 9002 bytes\]\n2\|short$/);
  });

  it("refuses a result of more than 100,000 characters and suggests a range that fits", async () => {
    ctx.write("wide.txt", `${"w".repeat(1500)}\n`.repeat(200));
    const error = await failureOf(read({ path: "wide.txt" }));
    const limit = Number(/limit=(\d+)/.exec(error.hint ?? "")?.[1]);
    expect((await read({ path: "wide.txt", limit })).lines).toBe(limit);
  });

  it("points at search for large files", async () => {
    ctx.write("big.txt", "0123456789\n".repeat(60_000));
    expect((await read({ path: "big.txt" })).hint).toContain("search_files");
  });
});

describe("kinds of files", () => {
  it.each([
    ["utf16le-bom.txt", "utf-16le"],
    ["utf16be-bom.txt", "utf-16be"],
    ["utf16le.txt", "utf-16le"],
    ["windows-1252.txt", "windows-1252"],
  ])("%s is shown as text", async (name, encoding) => {
    ctx.write(name, await readFile(join(FIXTURES, name)));
    const page = await read({ path: name });
    expect(page.converted_from).toBe(encoding);
    expect(page.content).toBe("1|Grüße, naïve café\n2|second line");
  });

  it("drops a UTF-8 byte order mark", async () => {
    ctx.write("bom.txt", "\uFEFFhello\n");
    expect((await read({ path: "bom.txt" })).content).toBe("1|hello");
  });

  it("hides carriage returns where every line has one", async () => {
    ctx.write("crlf.txt", "a\r\nb\r\n");
    expect(await read({ path: "crlf.txt" })).toMatchObject({ content: "1|a\n2|b", line_endings: "crlf" });
  });

  it("shows a notebook as cells", async () => {
    ctx.write("n.ipynb", await readFile(join(FIXTURES, "notebook.ipynb")));
    const page = await read({ path: "n.ipynb" });
    expect(page.converted_from).toBe("notebook");
    expect(page.content).toContain("# %% [1] markdown");
    expect(page.content).toContain("print(1 + 1)");
    expect(page.content).toContain("# output:");
  });

  it("shows the text of Word and Excel documents", async () => {
    ctx.write("d.docx", await readFile(join(FIXTURES, "document.docx")));
    ctx.write("s.xlsx", await readFile(join(FIXTURES, "sheet.xlsx")));
    expect((await read({ path: "d.docx" })).content).toBe(
      "1|First paragraph & more\n2|\n3|Second\tparagraph",
    );
    expect((await read({ path: "s.xlsx" })).content).toBe(
      "1|# sheet: Prices\n2|item\tprice\n3|apple\t1.5\n4|\ttrue north",
    );
  });

  it("refuses a damaged document with a reason", async () => {
    ctx.write("bad.docx", "not a zip");
    expect((await failureOf(read({ path: "bad.docx" }))).message).toContain("not a readable .docx");
  });

  it.each([
    ["picture.png", Buffer.from("89504e470d0a1a0a", "hex"), "image file"],
    ["data", Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3]), "ELF program"],
    ["blob.dat", Buffer.from([1, 2, 0, 4, 5, 0, 0, 9]), "binary file"],
    ["report.txt", Buffer.from("%PDF-1.7\nrest"), "PDF document"],
  ])("refuses %s and names its kind", async (name, bytes, kind) => {
    ctx.write(name, bytes);
    const error = await failureOf(read({ path: name }));
    expect(error.message).toContain(kind);
    expect(error.hint).toBeDefined();
  });
});

describe("pictures", () => {
  const png = (width: number, height: number) => {
    const bytes = Buffer.alloc(64);
    bytes.write("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 0, "latin1");
    bytes.writeUInt32BE(width, 16);
    bytes.writeUInt32BE(height, 20);
    return bytes;
  };
  const gif = Buffer.from("474946383961400130000000000000", "hex");
  const jpeg = Buffer.from(
    "ffd8ffe000104a46494600010100000100010000ffc00011080020004003012200021101031101",
    "hex",
  );
  const webp = (kind: string, rest: string) =>
    Buffer.concat([
      Buffer.from("RIFF\0\0\0\0WEBP"),
      Buffer.from(kind),
      Buffer.alloc(4),
      Buffer.from(rest, "hex"),
    ]);

  it.each([
    ["a.png", png(640, 480), "image/png", 640, 480],
    ["without-ending", png(7, 9), "image/png", 7, 9],
    ["a.gif", gif, "image/gif", 320, 48],
    ["a.jpg", jpeg, "image/jpeg", 64, 32],
    ["x.webp", webp("VP8X", "000000003f01003f0000"), "image/webp", 320, 64],
    ["l.webp", webp("VP8L", "2f3fc10f00000000"), "image/webp", 320, 64],
    ["v.webp", webp("VP8 ", "0000009d012a40014000"), "image/webp", 320, 64],
  ])("%s goes to the model as it is, with its size", async (name, bytes, mimeType, width, height) => {
    ctx.write(name, bytes);
    const result = await read({ path: name });
    expect(ToolResult.isInstance(result)).toBe(true);
    const { output, content } = result as unknown as ToolResult;
    expect(output).toMatchObject({
      kind: "image",
      mime_type: mimeType,
      width,
      height,
      file_size: bytes.length,
    });
    expect(content?.[1]).toEqual({ type: "image", data: bytes.toString("base64"), mimeType });
    expect(await read({ path: name })).toMatchObject({ status: "unchanged" });
  });

  it("reaches a model through a session, and a person gets words", async () => {
    const { runtime, cwd } = await testRuntime([], { builtins: true });
    writeFileSync(join(cwd, "a.png"), png(3, 4));
    const session = await runtime.openSession();
    const result = await session.call({ name: "read_file", arguments: { path: "a.png" } });
    expect(result.content.map(({ type }) => type)).toEqual(["text", "image"]);
    expect(JSON.stringify(result.structured)).not.toContain("iVBOR");
    expect(readFileTool.present?.(result.structured as never)?.human).toContain("3 × 4 pixels");
  });

  it("one that is too large says so; a text that is called a picture is still a text", async () => {
    ctx.write("big.png", Buffer.concat([png(9000, 9000), Buffer.alloc(4_000_000)]));
    expect((await failureOf(read({ path: "big.png" }))).message).toContain("9000 × 9000");
    ctx.write("pointer.png", "version https://git-lfs.github.com/spec/v1\n");
    expect(await read({ path: "pointer.png" })).toMatchObject({ lines: 1 });
  });
});

describe("PDF documents", () => {
  it("are shown page by page; a scanned page says that it is one", async () => {
    const document = await PDFDocument.create();
    const font = await document.embedFont(StandardFonts.Helvetica);
    const page = document.addPage();
    page.drawText("First line", { x: 50, y: 700, size: 12, font });
    page.drawText("Second line", { x: 50, y: 680, size: 12, font });
    const pixel =
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
    document.addPage().drawImage(await document.embedPng(pixel), { x: 0, y: 0, width: 500, height: 700 });
    document.addPage();
    ctx.write("report.pdf", await document.save());
    const shown = await read({ path: "report.pdf" });
    expect(shown.converted_from).toBe("pdf");
    expect(shownText(shown)).toMatch(
      /^# page 1 of 3\nFirst line\nSecond line\n\n# page 2 of 3\n\[no text: this page is a picture.*\]\n\n# page 3 of 3\n\[this page is empty\]\n$/,
    );
    expect(await read({ path: "report.pdf", offset: 3, limit: 1 })).toMatchObject({
      content: "3|Second line",
    });
  });

  it("a damaged one says so", async () => {
    ctx.write("bad.pdf", "%PDF-1.4\nnothing");
    expect((await failureOf(read({ path: "bad.pdf" }))).message).toContain("not a readable PDF");
  });
});

describe("what cannot be read", () => {
  it("a missing file names similar ones", async () => {
    ctx.write("src/server.ts", "x");
    const error = await failureOf(read({ path: "src/sever.ts" }));
    expect(error.message).toContain("does not exist");
    expect(error.hint).toContain("server.ts");
    expect(error.details?.similar_files).toContain(join(ctx.folder, "src/server.ts"));
  });

  it("a directory says that it is one", async () => {
    mkdirSync(join(ctx.folder, "folder"));
    expect((await failureOf(read({ path: "folder" }))).message).toContain("is a directory");
  });

  it.each(["/dev/zero", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/1", "/dev/../dev/urandom", "/dev/null"])(
    "%s is refused as a device",
    async (path) => {
      expect((await failureOf(read({ path }))).message).toMatch(/device/);
    },
  );

  it("a link to a device is refused too", async () => {
    symlinkSync("/dev/zero", join(ctx.folder, "innocent.txt"));
    expect((await failureOf(read({ path: "innocent.txt" }))).message).toContain("device");
  });

  it.each(["", "  ", "a\0b"])("the path %j is refused", async (path) => {
    expect(await failureOf(read({ path }))).toMatchObject({ code: "invalid_arguments" });
  });

  it("files of /proc, which claim to be empty, are read", async () => {
    expect((await read({ path: "/proc/self/status" })).content).toContain("Name:");
  });
});

describe("repeated reads", () => {
  it("second: a stub, third: a warning, fourth: blocked", async () => {
    ctx.write("a.txt", "one\n");
    expect(await read({ path: "a.txt" })).toMatchObject({ status: "success", content: "1|one" });
    const second = await read({ path: "a.txt" });
    expect(second).toMatchObject({ success: true, status: "unchanged", dedup: true });
    expect(second).not.toHaveProperty("content");
    expect(await read({ path: "a.txt" })).toMatchObject({ _warning: expect.any(String) });
    expect(await failureOf(read({ path: "a.txt" }))).toMatchObject({ code: "blocked" });
  });

  it("a change, even of the same size within the same instant, is shown", async () => {
    ctx.write("a.txt", "one\n");
    await read({ path: "a.txt" });
    ctx.write("a.txt", "two\n");
    expect(await read({ path: "a.txt" })).toMatchObject({ content: "1|two" });
  });

  it("another range, another session and a write of this session start afresh", async () => {
    ctx.write("a.txt", "one\ntwo\n");
    await read({ path: "a.txt" });
    expect(await read({ path: "a.txt", offset: 2 })).toMatchObject({ content: "2|two" });
    const other = inAnotherSession(ctx);
    expect(await call(readFileTool, { path: "a.txt" }, other)).toMatchObject({ status: "success" });
    await call(writeFileTool, { path: "a.txt", content: "one\ntwo\n" }, ctx);
    expect(await read({ path: "a.txt" })).toMatchObject({ status: "success", content: "1|one\n2|two" });
  });
});

describe("very large files", () => {
  it("a window near the end of 100 MB of lines is right and needs little memory", async () => {
    const path = join(ctx.folder, "deep.log");
    const file = openSync(path, "w");
    const line = (index: number) => `${String(index).padStart(9, "0")} ${"x".repeat(89)}\n`;
    for (let start = 1; start <= 1_000_000; start += 10_000) {
      writeSync(file, Array.from({ length: 10_000 }, (_, index) => line(start + index)).join(""));
    }
    closeSync(file);
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    const timer = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }, 1);
    const page = await read({ path, offset: 900_000, limit: 200 });
    clearInterval(timer);
    expect(page).toMatchObject({ lines: 200, total_lines_is_lower_bound: true, file_size: 100_000_000 });
    expect(page.total_lines).toBeGreaterThan(900_200);
    expect(String(page.content).split("\n")[0]).toBe(`900000|${line(900_000).trimEnd()}`);
    expect(peak).toBeLessThan(90_000_000);
  });

  it("pages of a large file fit together whatever order they are read in", async () => {
    const path = join(ctx.folder, "pages.log");
    const line = (index: number) => `${index} ${"é".repeat(index % 97)}`;
    const text = Array.from({ length: 60_000 }, (_, index) => `${line(index + 1)}\n`).join("");
    ctx.write("pages.log", `\uFEFF${text}`);
    const anHourAgo = new Date(Date.now() - 3_600_000);
    utimesSync(path, anHourAgo, anHourAgo);
    for (const offset of [50_000, 49_990, 1, 59_995, 30_000, 50_000, 12_345]) {
      const page = await call(readFileTool, { path, offset, limit: 20 }, inAnotherSession(ctx));
      const wanted = Array.from({ length: Math.min(20, 60_001 - offset) }, (_, index) => offset + index);
      expect(page.content).toBe(wanted.map((number) => `${number}|${line(number)}`).join("\n"));
      expect(page.total_lines).toBe(60_000);
    }
    // The same size and another content: what was known of the old one must not count.
    ctx.write("pages.log", `\uFEFF${text.replaceAll("\n", "!").replace(/!/, "\n")}`);
    expect(await read({ path, offset: 50_000 })).toMatchObject({ total_lines: 2, lines: 0 });
  });

  it("a line of 1 GB in a sparse file is cut, not held", async () => {
    const path = join(ctx.folder, "sparse.txt");
    const file = openSync(path, "w");
    writeSync(file, "head\n".repeat(2000));
    ftruncateSync(file, 1024 ** 3);
    writeSync(file, "\ntail\n", 1024 ** 3);
    closeSync(file);
    const page = await read({ path, offset: 2000, limit: 5 });
    expect(page).toMatchObject({ total_lines: 2002, cut_lines: [2001], lines: 3 });
    expect(String(page.content).endsWith("\n2002|tail")).toBe(true);
  });

  it("a cancelled read stops", async () => {
    const path = join(ctx.folder, "sparse.txt");
    const file = openSync(path, "w");
    writeSync(file, "head\n".repeat(2000));
    ftruncateSync(file, 4 * 1024 ** 3);
    closeSync(file);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 20);
    await expect(
      call(readFileTool, { path, offset: 3000 }, { ...ctx, signal: controller.signal }),
    ).rejects.toThrow(/abort/i);
  });
});

it("a person sees the numbers dim and in a column", async () => {
  ctx.write("a.txt", numbered(120));
  const page = await read({ path: "a.txt", offset: 99, limit: 2 });
  const painted = renderMarks(
    readFileTool.present?.(page as never)?.human ?? "",
    (meaning, text) => `<${meaning}>${text}</>`,
  );
  expect(painted.split("\n").slice(0, 2)).toEqual(["<dim> 99 │</> line 99", "<dim>100 │</> line 100"]);
});

describe("what it declares", () => {
  it("effects name the absolute path and are told without touching the disk", () => {
    const scope = { cwd: "/base", environment: "local" };
    const args = { path: "../x/./y.txt", offset: 1, limit: 1 };
    expect(readFileTool.effects?.(args, scope)).toMatchObject([
      { action: "file:read", resource: "/x/y.txt", mode: "read" },
    ]);
  });

  it("pages itself, so its results are never spilled", () => {
    expect(readFileTool.maxResultSizeChars).toBe(Number.POSITIVE_INFINITY);
    expect(readFileTool.aliases).toEqual(["file_read"]);
  });

  it("reading never changes the file", async () => {
    const path = ctx.write("a.bin.txt", "a\r\nb\n");
    const hash = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
    await read({ path });
    expect(
      createHash("sha256")
        .update(await readFile(path))
        .digest("hex"),
    ).toBe(hash);
  });
});
