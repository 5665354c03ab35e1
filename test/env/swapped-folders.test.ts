import {
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import { ToolError } from "../../src/tool/errors.js";
import { needs } from "../support/needs.js";
import { tempDir } from "../support/runtime.js";
import { RACE_SECONDS, startSwapper } from "../support/swapper.js";

const { files } = createLocalEnvironment();
const bytes = (text: string) => new TextEncoder().encode(text);
const SECRET = "of-somebody-else";

/** A folder that is in use, and one of somebody else that a link could lead to. */
function places() {
  const root = realpathSync(tempDir());
  const at = (...parts: string[]) => join(root, ...parts);
  mkdirSync(at("work/dir/sub"), { recursive: true });
  mkdirSync(at("other/sub"), { recursive: true });
  for (const name of ["f", "sub/f"]) {
    writeFileSync(at("work/dir", name), "own");
    writeFileSync(at("other", name), SECRET);
  }
  symlinkSync(at("other"), at("work/link"));
  const swap = () => {
    renameSync(at("work/dir"), at("work/x"));
    renameSync(at("work/link"), at("work/dir"));
    renameSync(at("work/x"), at("work/link"));
  };
  const untouched = () => {
    expect(readdirSync(at("other")).sort()).toEqual(["f", "sub"]);
    expect(readdirSync(at("other/sub"))).toEqual(["f"]);
    for (const name of ["f", "sub/f"]) expect(readFileSync(at("other", name), "utf8")).toBe(SECRET);
  };
  return { at, swap, untouched };
}

async function refusedBy(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  return ToolError.isInstance(error) ? error.details?.moved : error;
}

describe("a folder that became a link since its path was looked at", () => {
  it("is not written to, removed from, moved from or to, or read", async () => {
    const { at, swap, untouched } = places();
    writeFileSync(at("work/loose"), "loose");
    swap();
    expect(await refusedBy(files.write(at("work/dir/f"), bytes("evil")))).toBe(true);
    expect(await refusedBy(files.write(at("work/dir/new"), bytes("evil")))).toBe(true);
    expect(await refusedBy(files.write(at("work/dir/sub/f"), bytes("evil")))).toBe(true);
    expect(await refusedBy(files.write(at("work/dir/made/deep/f"), bytes("evil")))).toBe(true);
    expect(await refusedBy(files.remove(at("work/dir/f")))).toBe(true);
    expect(await refusedBy(files.rename(at("work/dir/f"), at("work/stolen")))).toBe(true);
    expect(await refusedBy(files.rename(at("work/loose"), at("work/dir/planted")))).toBe(true);
    expect(await refusedBy(files.read(at("work/dir/f"), { real: true }))).toBe(true);
    expect(await refusedBy(files.read(at("work/dir/sub/f"), { start: 0, end: 3, real: true }))).toBe(true);
    const stream = files.stream(at("work/dir/f"), { real: true })[Symbol.asyncIterator]();
    expect(await refusedBy(stream.next())).toBe(true);
    untouched();
    swap();
    await files.write(at("work/dir/f"), bytes("fine"));
    expect(Buffer.from(await files.read(at("work/dir/f"), { real: true })).toString()).toBe("fine");
  });

  it("a file that became a link is not written or read through", async () => {
    const { at, untouched } = places();
    symlinkSync(at("other/f"), at("work/file"));
    expect(await refusedBy(files.write(at("work/file"), bytes("evil")))).toBe(true);
    await expect(files.read(at("work/file"), { real: true })).rejects.toThrow(/Cannot read/);
    expect(Buffer.from(await files.read(at("work/file"))).toString()).toBe(SECRET);
    untouched();
  });

  it("links above are followed when nobody said that the path is real", async () => {
    const { at } = places();
    expect(Buffer.from(await files.read(at("work/link/f"))).toString()).toBe(SECRET);
  });

  it(
    `nothing gets out while two processes swap folders for ${RACE_SECONDS} s`,
    async (context) => {
      needs(context, "perl");
      const { at, untouched } = places();
      mkdirSync(at("work/tree/deep/down"), { recursive: true });
      symlinkSync(at("other/sub"), at("work/tree/deep/link"));
      await startSwapper(at("work/dir"), at("work/link"));
      await startSwapper(at("work/tree/deep/down"), at("work/tree/deep/link"));
      const until = Date.now() + RACE_SECONDS * 1000;
      let done = 0;
      let refused = 0;
      for (let round = 0; Date.now() < until; round += 1) {
        const name = round % 2 === 0 ? "work/dir/f" : "work/tree/deep/down/f";
        const steps = await Promise.allSettled([
          files.write(at(name), bytes("own")),
          files.write(at(`${name}.${round % 7}`, "made", "new"), bytes("own")),
          files.rename(at(name), at(`${name}.moved`)),
          files.remove(at(`${name}.moved`)),
          files.read(at(name), { real: true }),
        ]);
        const read = steps[4];
        if (read?.status === "fulfilled")
          expect(Buffer.from(read.value as Uint8Array).toString()).toBe("own");
        for (const step of steps) step.status === "fulfilled" ? done++ : refused++;
      }
      expect(done).toBeGreaterThan(0);
      expect(refused).toBeGreaterThan(0);
      untouched();
    },
    (RACE_SECONDS + 30) * 1000,
  );
});
