// Tries every regular expression of src/ with strings made for backtracking, in a thread that can be ended. Says, one
// line of JSON each, which one took longer than it may, where it stands and with what.
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

const CHARS = 3_000;
const LIMIT_MS = 50;
const HANG_MS = 10_000;

if (isMainThread) await tryAll(process.argv.slice(2));
else tryOne(workerData);

async function tryAll([root]) {
  const { default: typescript } = await import("typescript6");
  const found = regexesIn(root, typescript);
  let tried = 0;
  for (let from = 0; from < found.length; ) {
    const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { found, from } });
    from = await new Promise((resolve) => {
      let at = from;
      let attack = "";
      let timer;
      const watch = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          say({ ...found[at], attack, ms: HANG_MS });
          void worker.terminate();
          resolve(at + 1);
        }, HANG_MS);
      };
      worker.on("message", (message) => {
        if (message.begin !== undefined) {
          at = message.begin;
          attack = message.attack;
          tried += 1;
        } else say(message);
        watch();
      });
      worker.on("exit", () => {
        clearTimeout(timer);
        resolve(at + 1);
      });
      watch();
    });
  }
  say({ regexes: found.length, tried });
}

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function regexesIn(root, typescript) {
  const found = new Map();
  for (const entry of readdirSync(root, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !/\.tsx?$/.test(entry.name) || entry.name.endsWith(".gen.ts")) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const file = typescript.createSourceFile(
      path,
      readFileSync(path, "utf8"),
      typescript.ScriptTarget.Latest,
      true,
    );
    const visit = (node) => {
      if (node.kind === typescript.SyntaxKind.RegularExpressionLiteral) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart());
        const [, source, flags] = /^\/(.*)\/([a-z]*)$/s.exec(node.text);
        if (/[*+{]/.test(source) && !found.has(node.text))
          found.set(node.text, { source, flags, where: `${relative(root, path)}:${line + 1}` });
      }
      typescript.forEachChild(node, visit);
    };
    visit(file);
  }
  return [...found.values()];
}

/** What repeats in an attack: pieces of the expression itself, and what many of them look for. */
function pumpsOf(source) {
  const plain = source
    .replace(/\\[bBdDwWsSpP](?:\{[^}]*\})?|\(\?[:=!<]*|[[\](){}|^$*+?]/g, "\0")
    .replace(/\\(.)/g, "$1");
  const pieces = plain.split("\0").filter((piece) => piece.length > 0 && piece.length < 30);
  const common = [
    "a",
    "A",
    "0",
    " ",
    "\n",
    "\t",
    "-",
    "_",
    ".",
    "/",
    ":",
    "=",
    ",",
    '"',
    "'",
    "\\",
    "<",
    "(",
    "[",
    "{",
    "#",
    "a ",
    "a.",
    "a=",
    "-a",
    " \n",
    "é",
    "\u200d",
  ];
  return [
    ...new Set([
      ...common,
      ...pieces,
      ...pieces.map((piece) => `${piece} `),
      pieces.join(""),
      pieces.slice(0, 3).join("a"),
    ]),
  ].filter(Boolean);
}

function tryOne({ found, from }) {
  for (let at = from; at < found.length; at += 1) {
    const { source, flags } = found[at];
    const regex = new RegExp(source, flags.replace("g", ""));
    const pumps = pumpsOf(source);
    for (const pump of pumps)
      for (const [before, after] of [
        ["", "\0"],
        [pumps.at(-1), "\0"],
        ["", ""],
      ]) {
        const attack = `${JSON.stringify(before)} ${JSON.stringify(pump)} ${JSON.stringify(after)}`;
        const text = before + pump.repeat(Math.ceil(CHARS / pump.length)) + after;
        parentPort.postMessage({ begin: at, attack });
        let ms = Number.POSITIVE_INFINITY;
        // The quicker of two: another program's turn is not this expression's doing.
        for (let turn = 0; turn < 2 && ms > LIMIT_MS; turn += 1) {
          const started = process.cpuUsage();
          const startedAt = performance.now();
          regex.lastIndex = 0;
          regex.test(text);
          const { user, system } = process.cpuUsage(started);
          ms = Math.min(ms, performance.now() - startedAt, (user + system) / 1_000);
        }
        if (ms > LIMIT_MS) parentPort.postMessage({ ...found[at], attack, ms: Math.round(ms) });
      }
  }
}
