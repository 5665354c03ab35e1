import { randomBytes } from "node:crypto";
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { holds, refused, same } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

/** Relative path and content; odd names, nothing in it, many bytes. */
const TREE: Readonly<Record<string, Buffer>> = {
  "plain.txt": Buffer.from("plain\n"),
  empty: Buffer.alloc(0),
  "sub/deeper/file.bin": randomBytes(200_000),
  "sub/grün ✓": Buffer.from("unicode"),
  "-dash": Buffer.from("dash"),
  "new\nline": Buffer.from("newline"),
  "quote'\"s $(id)": Buffer.from("quotes"),
  " space ": Buffer.from("spaces"),
  [`${"long".repeat(50)}/${"n".repeat(200)}`]: Buffer.from("long names"),
};
const BYTES = Object.values(TREE).reduce((sum, content) => sum + content.length, 0);

export const transferCases: readonly ConformanceCase[] = [
  conformanceCase("a folder goes there and comes back as it was", async (context) => {
    const task = await context.task();
    await withFolder(async (here) => {
      const source = join(here, "source");
      for (const [name, content] of Object.entries(TREE)) {
        mkdirSync(join(source, name, ".."), { recursive: true });
        writeFileSync(join(source, name), content);
      }
      mkdirSync(join(source, "nothing in it"));
      writeFileSync(join(source, "run.sh"), "#!/bin/sh\necho runs\n", { mode: 0o755 });
      symlinkSync("plain.txt", join(source, "link"));
      const there = `${task.folder}/made/target`;
      const pushed = await task.environment.push({ from: source, to: there });
      same(pushed.files >= Object.keys(TREE).length + 1, true, `files of the report (${pushed.files})`);
      holds(pushed.bytes >= BYTES, "bytes of the report", pushed);
      same(
        (await task.run("cat made/target/plain.txt; made/target/run.sh")).output,
        "plain\nruns\n",
        "there",
      );
      same((await task.run("readlink made/target/link")).output, "plain.txt\n", "a link stays a link");
      const back = join(here, "deep/back");
      await task.environment.fetch({ from: there, to: back });
      for (const [name, content] of Object.entries(TREE))
        holds(
          readFileSync(join(back, name)).equals(content),
          `${JSON.stringify(name)} came back`,
          "other bytes",
        );
      same(readdirSync(join(back, "nothing in it")), [], "the empty folder");
      same(lstatSync(join(back, "run.sh")).mode & 0o777, 0o755, "the mode of the script");
      same(lstatSync(join(back, "link")).isSymbolicLink(), true, "the link is a link");
    });
  }),

  conformanceCase("one file goes there and comes back", async (context) => {
    const task = await context.task();
    await withFolder(async (here) => {
      const content = randomBytes(2_000_000);
      writeFileSync(join(here, "one"), content);
      const there = `${task.folder}/sub/one 'file`;
      same(
        await task.environment.push({ from: join(here, "one"), to: there }),
        { files: 1, bytes: 2_000_000 },
        "push",
      );
      const report = await task.environment.fetch({ from: there, to: join(here, "new/back") });
      same(report, { files: 1, bytes: 2_000_000 }, "fetch");
      holds(readFileSync(join(here, "new/back")).equals(content), "the bytes are the same", "other bytes");
    });
  }),

  conformanceCase("a link to a place outside is never followed when a folder is fetched", async (context) => {
    const task = await context.task();
    await withFolder(async (here) => {
      await task.run(
        "mkdir tree; echo inside > tree/file; ln -s /etc tree/etc; ln -s /etc/passwd tree/passwd",
      );
      await task.environment.fetch({ from: `${task.folder}/tree`, to: join(here, "got") });
      same(readFileSync(join(here, "got/file"), "utf8"), "inside\n", "the file");
      for (const name of ["etc", "passwd"]) {
        const stats = lstatSync(join(here, "got", name), { throwIfNoEntry: false });
        holds(stats === undefined || stats.isSymbolicLink(), `${name} is a link or left out`, stats?.mode);
      }
    });
  }),

  conformanceCase("what cannot be copied is refused with a reason", async (context) => {
    const task = await context.task();
    await withFolder(async (here) => {
      const missing = join(here, "missing");
      await refused(task.environment.push({ from: missing, to: `${task.folder}/x` }), {
        what: "a missing source here",
      });
      await refused(task.environment.fetch({ from: `${task.folder}/missing`, to: join(here, "x") }), {
        what: "a missing source there",
      });
      writeFileSync(join(here, "file"), "x");
      await refused(
        task.environment.push({
          from: join(here, "file"),
          to: `${task.folder}/y`,
          signal: AbortSignal.abort(),
        }),
        { what: "a transfer that was cancelled before" },
      );
      same((await task.run("ls")).output, "", "nothing is there");
    });
  }),
];

async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "conformance-"));
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
