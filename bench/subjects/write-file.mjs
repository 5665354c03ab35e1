// The write_file tool beside what a careful program does by hand: temporary file, fsync, rename, in the same folder.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { open as openFile, readFile, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { oneByOne } from "../operations.mjs";

/** `dist`: the build to measure. `bytes`: how large the file is. `journal`: whether calls and old bytes are kept. */
export async function open({ dist, bytes = 1024 * 1024, journal = true }) {
  const { createRuntime } = await import(pathToFileURL(join(dist, "index.js")).href);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const cwd = join(home, "work");
  mkdirSync(cwd);
  // Nobody is asked: a person who thinks about it is not what is measured.
  writeFileSync(join(home, "config.yaml"), "approvals:\n  mode: off\n");
  const runtime = await createRuntime({
    home,
    cwd,
    systemDir: join(home, "system"),
    userTools: false,
    journal,
  });
  const session = await runtime.openSession({});
  const contentOf = contents(bytes);

  const writeFileTool = async (number) => {
    const result = await session.call({
      name: "write_file",
      arguments: { path: "ours.txt", content: contentOf(number) },
    });
    if (!result.ok) throw new Error(`write_file failed: ${JSON.stringify(result.error)}`);
    return result;
  };
  const byHand = async (number) => {
    const place = join(cwd, "bare.txt");
    const file = await openFile(`${place}.tmp`, "w");
    await file.writeFile(contentOf(number));
    await file.sync();
    await file.close();
    await rename(`${place}.tmp`, place);
  };

  for (const number of [0, 1]) {
    await byHand(number);
    const { structured } = await writeFileTool(number);
    const written = await readFile(join(cwd, "ours.txt"), "utf8");
    if (structured.bytes_written !== bytes || written !== contentOf(number)) {
      throw new Error("write_file did not write what it was given");
    }
  }
  return {
    operations: { writeFileTool: oneByOne(writeFileTool), byHand: oneByOne(byHand) },
    async close() {
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Another content each time, so that the old one has to be kept each time. */
function contents(bytes) {
  const line =
    "A line of text that is as long as lines of programs usually are; no two files are the same.\n";
  const body = line.repeat(Math.ceil(bytes / line.length));
  return (number) => `${number}\n${body}`.slice(0, bytes);
}
