// search_files as a session calls it, and the program below it started by plain node.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { rgPath } from "@vscode/ripgrep";
import { oneByOne } from "../operations.mjs";

/** `tree`: the folder to search. `expected`: what must be found. `dist`: the build to measure; bare without it. */
export async function open({ tree, expected, dist }) {
  return dist === undefined ? bare(tree, expected) : await product({ tree, expected, dist });
}

function bare(tree, { lines, files }) {
  const run = (wanted, args) => oneByOne(() => countLines({ args, tree, wanted }));
  return {
    operations: {
      content: run(lines, ["needleFunction", "."]),
      list: run(files, ["--files"]),
      sortedList: run(files, ["--files", "--sortr", "modified"]),
    },
  };
}

function countLines({ args, tree, wanted }) {
  return new Promise((resolve, reject) => {
    const child = spawn(rgPath, args, { cwd: tree, stdio: ["ignore", "pipe", "inherit"] });
    let lines = 0;
    child.stdout.on("data", (chunk) => {
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
    });
    child.once("error", reject);
    child.once("close", () =>
      lines === wanted ? resolve() : reject(new Error(`rg ${args.join(" ")}: ${lines} lines, not ${wanted}`)),
    );
  });
}

async function product({ tree, expected, dist }) {
  const { createRuntime } = await import(pathToFileURL(join(dist, "index.js")).href);
  const home = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const runtime = await createRuntime({
    home,
    cwd: tree,
    systemDir: join(home, "system"),
    userTools: false,
    journal: false,
  });
  const session = await runtime.openSession({});
  const run = (wanted, args) =>
    oneByOne(async () => {
      const result = await session.call({ name: "search_files", arguments: args });
      if (result.structured?.total_count === wanted) return;
      throw new Error(`search_files ${JSON.stringify(args)}: ${JSON.stringify(result).slice(0, 800)}`);
    });
  return {
    operations: {
      content: run(expected.lines, { pattern: "needleFunction" }),
      list: run(expected.files, { pattern: "*", target: "files" }),
      listByName: run(expected.named, { pattern: "rare*.ts", target: "files" }),
    },
    async close() {
      await runtime.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
