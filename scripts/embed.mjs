// Writes modules that hold files in other languages as text, so that they are there wherever the package is
// bundled to: programs that run elsewhere, lists of words.
//   node scripts/embed.mjs           rewrite what changed
//   node scripts/embed.mjs --check   exit 1 if a module is out of date
import { readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/**
 * A row per module: the name of each constant and the file it holds, beside the module unless a path says otherwise.
 * A folder instead of files stands for all of its scripts and lists: `end-trees.sh` is END_TREES.
 * A `.line.sh` becomes a single line, because a shell tells the number of the line in its messages; so each statement of
 * it ends with a semicolon.
 * WebAssembly is assembled, and comes as base64.
 * `comments: "dropped"` leaves out empty lines and lines that begin with #: they are for those who read the file.
 */
const EMBEDDED = [
  { module: "src/base/held-loop-thread.gen.ts", files: { HELD_LOOP_THREAD: "held-loop-thread.cjs" } },
  {
    module: "src/env/local/launcher/launcher-program.gen.ts",
    files: { LAUNCHER_PROGRAM: "launcher.pl" },
    comments: "dropped",
  },
  { module: "src/search/lexical/words.gen.ts", folder: "words", comments: "dropped" },
  { module: "src/search/foreign/words.gen.ts", files: { WORDS: "words.txt" }, comments: "dropped" },
  {
    module: "src/search/semantic/similarities.gen.ts",
    files: { SIMILARITIES: "similarities.wat" },
  },
  { module: "src/env/daytona/scripts.gen.ts", folder: "scripts", comments: "dropped" },
  { module: "src/env/local/scripts.gen.ts", folder: "scripts", comments: "dropped" },
  { module: "src/env/remote/scripts.gen.ts", folder: "scripts", comments: "dropped" },
  { module: "src/env/ssh/scripts.gen.ts", folder: "scripts", comments: "dropped" },
  {
    module: "src/cli/completion/scripts.gen.ts",
    files: {
      BASH: "scripts/hermes.bash",
      ZSH: "scripts/hermes.zsh",
      FISH: "scripts/hermes.fish",
      POWERSHELL: "scripts/hermes.ps1",
    },
  },
  { module: "src/server/sign-in-style.gen.ts", files: { SIGN_IN_STYLE: "sign-in-files/style.css" } },
  { module: "src/store/checkpoint-thread.gen.ts", files: { CHECKPOINT_THREAD: "checkpoint-thread.cjs" } },
  { module: "src/tools/browser/scripts.gen.ts", folder: "scripts", comments: "dropped" },
  { module: "src/tools/code/scripts.gen.ts", folder: "scripts", comments: "dropped" },
  { module: "src/tools/files/diff/compare-thread.gen.ts", files: { COMPARE_THREAD: "compare-thread.cjs" } },
  {
    module: "src/tools/platform/database/sqlite-program.gen.ts",
    files: { SQLITE_PROGRAM: "sqlite-program.cjs" },
  },
  { module: "src/tools/platform/sheets/sheet-thread.gen.ts", files: { SHEET_THREAD: "sheet-thread.cjs" } },
];

/** Path and text of every module, as they should be; rows whose files are not there are left out. */
export async function embeddedModules(root, rows = EMBEDDED) {
  const modules = await Promise.all(rows.map((row) => moduleOf(root, row)));
  return modules.filter((module) => module !== undefined);
}

/** Returns the modules that had to change. */
export async function writeEmbedded(root) {
  const written = [];
  for (const { module, text } of await embeddedModules(root)) {
    if ((await readFile(join(root, module), "utf8").catch(() => "")) === text) continue;
    await writeFile(join(root, module), text);
    written.push(module);
  }
  return written;
}

async function moduleOf(root, { module, folder, comments, ...row }) {
  const files = row.files ?? (await scriptsIn(join(root, dirname(module)), folder));
  const names = folder === undefined ? Object.values(files) : [`${folder}/`];
  const lines = [`// Written by \`npm run build\` from ${names.join(", ")}. Change that, not this.`];
  for (const [constant, file] of Object.entries(files)) {
    const text = await readIfThere(join(root, dirname(module), file));
    // A copy of the package for a test holds some rooms only.
    if (text === undefined) return undefined;
    const kept = comments === "dropped" ? text.replaceAll(/^[ \t]*(?:#.*)?\n/gm, "") : text;
    const whole = file.endsWith(".line.sh") ? kept.trimEnd().replaceAll("\n", " ") : kept;
    const value = file.endsWith(".wat") ? await assembled(file, text) : whole;
    lines.push(`export const ${constant} = ${JSON.stringify(value)};`);
  }
  if (lines.length === 1) return undefined;
  return { module, text: `${lines.join("\n")}\n` };
}

async function assembled(name, text) {
  const { default: openWabt } = await import("wabt");
  const module = (await openWabt()).parseWat(name, text, { simd: true });
  return Buffer.from(module.toBinary({}).buffer).toString("base64");
}

async function scriptsIn(room, folder) {
  const names = await readdir(join(room, folder)).catch(() => []);
  const scripts = names.filter((name) => /\.(?:sh|py|pl|cjs|txt)$/.test(name)).sort();
  const constant = (name) =>
    name
      .replace(/(?:\.line)?\.\w+$/, "")
      .replaceAll("-", "_")
      .toUpperCase();
  return Object.fromEntries(scripts.map((name) => [constant(name), `${folder}/${name}`]));
}

async function readIfThere(path) {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  if (process.argv.includes("--check")) {
    for (const { module, text } of await embeddedModules(root)) {
      if ((await readIfThere(join(root, module))) === text) continue;
      console.error(`${module} is out of date; run node scripts/embed.mjs.`);
      process.exitCode = 1;
    }
  } else for (const module of await writeEmbedded(root)) console.log(`${module} written`);
}
