import { randomBytes } from "node:crypto";
import { join } from "node:path/posix";
import { holds, refused, same, within } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

const ODD_NAMES = [
  "new\nline",
  "quo'te\"s $(touch pwned) `x`",
  "-dash",
  "--help",
  "grün ✓ 😀",
  " spaces ",
  "back\\slash\\n\ttab",
  "*",
  ".hidden~",
  "n".repeat(255),
];

export const fileCases: readonly ConformanceCase[] = [
  conformanceCase("files hold exactly the bytes that were written", async (context) => {
    const { files } = await context.environment();
    const folder = await context.scratch();
    const path = join(folder, "sub/deeper/file.bin");
    const bytes = Uint8Array.from({ length: 4_096 }, (_, index) => index % 256);
    const first = await files.write(path, bytes);
    same([first.created, first.dirsCreated], [true, true], "the first write");
    same([...(await files.read(path))], [...bytes], "the bytes");
    const second = await files.write(path, Buffer.from("short"));
    same([second.created, second.dirsCreated], [false, false], "the second");
    same(text(await files.read(path)), "short", "the bytes after a shorter write");
    await files.write(join(folder, "empty"), new Uint8Array());
    same((await files.read(join(folder, "empty"))).byteLength, 0, "an empty file");
  }),

  conformanceCase("large files go there and back, whole and in a stream", async (context) => {
    const { files } = await context.environment();
    const path = join(await context.scratch(), "large");
    const bytes = randomBytes(5_000_000);
    await files.write(path, bytes);
    holds(bytes.equals(Buffer.from(await files.read(path))), "5 MB come back as they were", "other bytes");
    const chunks: Uint8Array[] = [];
    for await (const chunk of files.stream(path, { start: 1_000_000 })) chunks.push(Uint8Array.from(chunk));
    holds(bytes.subarray(1_000_000).equals(Buffer.concat(chunks)), "the stream from 1 MB on", chunks.length);
    for await (const chunk of files.stream(path)) {
      holds(chunk.byteLength > 0, "a stream may be left in the middle", chunk.byteLength);
      break;
    }
  }),

  conformanceCase("ranges of a file", async (context) => {
    const { files } = await context.environment();
    const path = join(await context.scratch(), "digits");
    await files.write(path, Buffer.from("0123456789"));
    const ranges: readonly (readonly [{ start?: number; end?: number }, string])[] = [
      [{ start: 3, end: 6 }, "345"],
      [{ start: 7 }, "789"],
      [{ end: 2 }, "01"],
      [{ start: 8, end: 100 }, "89"],
      [{ start: 100 }, ""],
      [{ start: 5, end: 5 }, ""],
      [{ start: 6, end: 2 }, ""],
      [{}, "0123456789"],
    ];
    for (const [range, expected] of ranges)
      same(text(await files.read(path, range)), expected, `the range ${JSON.stringify(range)}`);
  }),

  conformanceCase("odd file names work in every operation", async (context) => {
    const task = await context.task();
    const { files } = task.environment;
    const paths = ODD_NAMES.map((name) => join(task.folder, name));
    const shown = (path: string) => JSON.stringify(path.slice(task.folder.length, task.folder.length + 30));
    await Promise.all(
      paths.map(async (path) => {
        await files.write(path, Buffer.from(`in ${path}`));
        same(text(await files.read(path)), `in ${path}`, `what is in ${shown(path)}`);
        same((await files.stat(path))?.type, "file", `stat of ${shown(path)}`);
        same(await files.realpath(path), path, `realpath of ${shown(path)}`);
      }),
    );
    same((await task.run(["cat", ...paths])).output, paths.map((path) => `in ${path}`).join(""), "cat");
    const listed = (await files.list(task.folder)).map(({ name }) => name);
    same([...listed].sort(), [...ODD_NAMES].sort(), "the list");
    await Promise.all(
      ODD_NAMES.map(async (name, index) => {
        const folder = join(task.folder, `moved${index}`);
        await files.rename(join(task.folder, name), join(folder, name));
        await files.remove(join(folder, name));
        await files.remove(folder);
      }),
    );
    same(await files.list(task.folder), [], "the list in the end");
  }),

  conformanceCase("names that are not text do not break a list", async (context) => {
    const task = await context.task();
    same((await task.run("touch $'bad\\377name' good")).exitCode, 0, "touch");
    const names = (await task.environment.files.list(task.folder)).map(({ name }) => name);
    same([names.length, names.includes("good")], [2, true], "how many names, and the good one");
  }),

  conformanceCase("stat tells type, size, mode and time; links are followed", async (context) => {
    const task = await context.task();
    const { files } = task.environment;
    await task.run(
      "printf 12345 > file; chmod 640 file; mkdir dir; ln -s file link; ln -s missing dangling; ln -s dir todir; mkfifo pipe; TZ=UTC0 touch -t 200102030405.06 file",
    );
    const at = (name: string) => files.stat(join(task.folder, name));
    const file = await at("file");
    same([file?.type, file?.size, file?.mode], ["file", 5, 0o640], "type, size and mode of a file");
    same(file?.mtimeMs, Date.UTC(2001, 1, 3, 4, 5, 6), "time of a file");
    same((await at("dir"))?.type, "directory", "a folder");
    same((await at("link"))?.inode, file?.inode, "inode through a link");
    same((await at("todir"))?.type, "directory", "a link to a folder");
    same((await at("dangling"))?.type, "symlink", "a link that leads nowhere");
    same((await at("pipe"))?.type, "other", "a named pipe");
    same(await at("missing"), undefined, "a missing file");
    same(await at("file/below"), undefined, "below a file");
    const types = (await files.list(task.folder)).map(({ name, type }) => [name, type]);
    same(
      types.sort(),
      [
        ["dangling", "symlink"],
        ["dir", "directory"],
        ["file", "file"],
        ["link", "symlink"],
        ["pipe", "other"],
        ["todir", "symlink"],
      ],
      "the types in a list",
    );
  }),

  conformanceCase("a folder of 3,000 files is listed whole", async (context) => {
    const task = await context.task();
    await task.run("i=0; while [ $i -lt 3000 ]; do : > file-$i; i=$((i+1)); done");
    same((await task.environment.files.list(task.folder)).length, 3_000, "how many");
  }),

  conformanceCase("what cannot be read is refused with a reason and does not hang", async (context) => {
    const task = await context.task();
    const { files } = task.environment;
    await task.run("mkdir dir; mkfifo pipe; ln -s loop2 loop1; ln -s loop1 loop2; touch file");
    const tries: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["a missing file", () => files.read(join(task.folder, "missing"))],
      ["a folder", () => files.read(join(task.folder, "dir"))],
      ["a named pipe", () => files.read(join(task.folder, "pipe"))],
      ["a device", () => files.read("/dev/zero")],
      ["a circle of links", () => files.read(join(task.folder, "loop1"))],
      ["below a file", () => files.read(join(task.folder, "file/x"))],
      ["a relative path", () => files.read("relative")],
      ["a NUL byte", () => files.read(`${task.folder}/a\0b`)],
      ["a stream of nothing", () => collect(files.stream(join(task.folder, "missing")))],
      ["the list of a missing folder", () => files.list(join(task.folder, "missing"))],
      ["the list of a file", () => files.list(join(task.folder, "file"))],
    ];
    for (const [what, act] of tries) await within(15_000, what, refused(act(), { what }));
  }),

  conformanceCase("realpath follows links, also where the rest is missing", async (context) => {
    const task = await context.task();
    const { files } = task.environment;
    await task.run("mkdir -p a/b; ln -s a/b link; ln -s link/new dangling; ln -s ../.. a/b/up");
    const real = (name: string) => files.realpath(join(task.folder, name));
    same(await real("link/file"), join(task.folder, "a/b/file"), "through a link");
    same(await real("dangling"), join(task.folder, "a/b/new"), "a link to what is not there yet");
    same(await real("link/up/link"), join(task.folder, "a/b"), "through several");
    same(await real("x/y/z"), join(task.folder, "x/y/z"), "what is not there at all");
  }),

  conformanceCase("paths are resolved against the folder and the home there", async (context) => {
    const environment = await context.environment();
    const { files } = environment;
    same(files.resolve("b/../c.txt", "/a"), "/a/c.txt", "a relative path");
    same(files.resolve("/x//y/./z", "/a"), "/x/y/z", "an absolute path");
    const { home } = await environment.describe();
    if (home !== undefined) {
      same(files.resolve("~/notes", "/a"), join(home, "notes"), "below the home");
      same(files.resolve("~", "/a"), home, "the home");
    }
    same(files.resolve("~other", "/a"), "/a/~other", "a name that only begins like it");
  }),

  conformanceCase("files and commands see one place", async (context) => {
    const task = await context.task();
    const { files } = task.environment;
    await files.write(files.resolve("from-file", task.state.cwd), Buffer.from("by file\n"));
    same((await task.run("cat from-file")).output, "by file\n", "what a command reads");
    await task.run("mkdir sub; cd sub; printf 'by command' > from-command");
    const path = files.resolve("from-command", task.state.cwd);
    same(text(await files.read(path)), "by command", "what is read of a command");
    await task.run("rm from-command");
    same(await files.stat(path), undefined, "what a command removed");
    await files.remove(join(task.folder, "from-file"));
    same((await task.run("ls ..")).output, "sub\n", "what a command sees in the end");
  }),
];

async function collect(stream: AsyncIterable<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.byteLength;
  return bytes;
}

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("utf8");
}
