import { join } from "node:path/posix";
import { sha256 } from "../../base/hash.js";
import type { EnvironmentFiles } from "../../env/environment.js";
import { ToolError } from "../../tool/errors.js";
import { holds, refused, same } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

export const fileChangeCases: readonly ConformanceCase[] = [
  conformanceCase("a write with an expected content happens only over that content", async (context) => {
    const { files } = await context.environment();
    const path = join(await context.scratch(), "dir/swap");
    await refused(write(files, path, "x", sha256("old")), { what: "the file is not there" });
    same(await files.stat(join(path, "..")), undefined, "its folder was not made in vain");
    await write(files, path, "one", undefined);
    const exists = await refused(write(files, path, "two", undefined), { what: "the file is there already" });
    same(exists.details?.conflict, true, `details.conflict of "${exists.message}"`);
    const changed = await refused(write(files, path, "two", sha256("other")), { what: "another content" });
    same(changed.details?.conflict, true, `details.conflict of "${changed.message}"`);
    same(await read(files, path), "one", "the content after three refusals");
    await write(files, path, "two", sha256("one"));
    same(await read(files, path), "two", "the content after the right one");
    same((await files.list(join(path, ".."))).length, 1, "files in the folder: no temporary one is left");
  }),

  conformanceCase("of several writers that expect the same content one wins", async (context) => {
    const { files } = await context.environment();
    const path = join(await context.scratch(), "race");
    for (const [round, expected] of [undefined, "winner"].entries()) {
      const before = expected === undefined ? undefined : sha256(await read(files, path));
      const results = await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) => write(files, path, `round ${round} writer ${index}`, before)),
      );
      const won = results.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
      same(won.length, 1, `winners of round ${round}`);
      same(await read(files, path), `round ${round} writer ${won[0]}`, "the content is the winner's");
      for (const result of results) {
        if (result.status === "fulfilled") continue;
        holds(ToolError.isInstance(result.reason), "the others are told so", String(result.reason));
      }
    }
  }),

  conformanceCase("the mode of a file is kept, and a script stays one", async (context) => {
    const task = await context.task();
    const { files } = task.environment;
    const path = join(task.folder, "script");
    await files.write(path, Buffer.from("#!/bin/sh\necho one\n"));
    await task.run("chmod 751 script");
    await files.write(path, Buffer.from("#!/bin/sh\necho two\n"));
    same((await files.stat(path))?.mode, 0o751, "mode after a write");
    same((await task.run("./script")).output, "two\n", "output of the script");
  }),

  conformanceCase("a reader never sees half a file", async (context) => {
    const task = await context.task();
    const { files } = task.environment;
    const path = join(task.folder, "whole");
    const size = 300_000;
    await files.write(path, Buffer.alloc(size, "a"));
    const reading = task.run(
      'n=0; while [ ! -e stop ]; do n=$((n+1)); set -- $(wc -c < whole; tr -d a < whole | wc -c); [ "$1" = 300000 ] && { [ "$2" = 0 ] || [ "$2" = 300000 ] || [ "$1" = 300000 ]; } || { echo torn $1 $2; break; }; done; echo read',
    );
    for (let round = 0; round < 12; round += 1)
      await files.write(path, Buffer.alloc(size, round % 2 === 0 ? "b" : "a"));
    await files.write(join(task.folder, "stop"), new Uint8Array());
    same((await reading).output, "read\n", "what the reader says");
    same(
      (await files.list(task.folder)).map(({ name }) => name).sort(),
      ["stop", "whole"],
      "files in the end",
    );
  }),

  conformanceCase("a link on the way is refused, and what it leads to is untouched", async (context) => {
    const task = await context.task();
    const { files } = task.environment;
    await task.run(
      "mkdir real; echo kept > real/file; ln -s real/file link; ln -s real dirlink; ln -s nowhere dangling",
    );
    const at = (name: string) => join(task.folder, name);
    const tries: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["a write over a link", () => files.write(at("link"), Buffer.from("x"))],
      ["a write over a dangling link", () => files.write(at("dangling"), Buffer.from("x"))],
      ["a write below a linked folder", () => files.write(at("dirlink/file"), Buffer.from("x"))],
      ["a new file below a linked folder", () => files.write(at("dirlink/new/x"), Buffer.from("x"))],
      ["a removal below a linked folder", () => files.remove(at("dirlink/file"))],
      ["a rename from a linked folder", () => files.rename(at("dirlink/file"), at("stolen"))],
      ["a rename into a linked folder", () => files.rename(at("real/file"), at("dirlink/moved"))],
      ["a read of a real path through a link", () => files.read(at("dirlink/file"), { real: true })],
      ["a read of a real path that is a link", () => files.read(at("link"), { real: true })],
    ];
    for (const [what, act] of tries) await refused(act(), { what });
    same(
      (await task.run("cat real/file; ls real; ls; readlink link; readlink dangling")).output,
      "kept\nfile\ndangling\ndirlink\nlink\nreal\nreal/file\nnowhere\n",
      "everything is as it was",
    );
    same(await read(files, at("link")), "kept\n", "an ordinary read follows links");
  }),

  conformanceCase(
    "remove takes a file, an empty folder, a link itself, and nothing else",
    async (context) => {
      const task = await context.task();
      const { files } = task.environment;
      await task.run("mkdir empty full; touch file full/file; ln -s full link; ln -s full/file filelink");
      const at = (name: string) => join(task.folder, name);
      for (const name of ["file", "empty", "link", "filelink"]) await files.remove(at(name));
      await refused(files.remove(at("full")), { what: "a folder that is not empty" });
      await refused(files.remove(at("missing")), { what: "a missing file" });
      same((await task.run("find . | sort")).output, ".\n./full\n./full/file\n", "what is left");
    },
  ),

  conformanceCase("rename moves and replaces, and makes the folders it needs", async (context) => {
    const task = await context.task();
    const { files } = task.environment;
    await task.run("echo a > a; echo b > b; mkdir -p dir/sub; echo c > dir/sub/c");
    const at = (name: string) => join(task.folder, name);
    await files.rename(at("a"), at("b"));
    await files.rename(at("b"), at("new/folder/b"));
    await files.rename(at("dir"), at("moved"));
    await refused(files.rename(at("missing"), at("x/y")), { what: "a missing file" });
    same(
      (await task.run("cat new/folder/b moved/sub/c; find . -type f | sort; ls")).output,
      "a\nc\n./moved/sub/c\n./new/folder/b\nmoved\nnew\n",
      "the result",
    );
  }),

  conformanceCase("what cannot be written is refused, and the old content stays", async (context) => {
    const task = await context.task();
    const { files } = task.environment;
    await task.run("mkdir dir; touch file; mkfifo pipe");
    const at = (name: string) => join(task.folder, name);
    const tries: readonly (readonly [string, () => Promise<unknown>])[] = [
      ["a folder", () => files.write(at("dir"), Buffer.from("x"))],
      ["a named pipe", () => files.write(at("pipe"), Buffer.from("x"))],
      ["below a file", () => files.write(at("file/x"), Buffer.from("x"))],
      ["a relative path", () => files.write("relative", Buffer.from("x"))],
      ["a name that is too long", () => files.write(at("n".repeat(256)), Buffer.from("x"))],
      ["/proc", () => files.write("/proc/version", Buffer.from("x"))],
    ];
    for (const [what, act] of tries) await refused(act(), { what });
    same((await task.run("ls")).output, "dir\nfile\npipe\n", "files in the end");
  }),
];

function write(
  files: EnvironmentFiles,
  path: string,
  content: string,
  expected: string | undefined,
): Promise<unknown> {
  return files.write(path, Buffer.from(content), { expected: { sha256: expected } });
}

async function read(files: EnvironmentFiles, path: string): Promise<string> {
  return Buffer.from(await files.read(path)).toString("utf8");
}
