// Which test files run: a part of them, less those whose needs this machine does not meet. test/needs.json says which
// Debian package brings which program (or file). A test file that cannot do without something says so above its first
// import, and is then left out whole:
//   // @needs sshd ssh root
//   node scripts/test-files.mjs   prints the packages that are missing here, for .ci/run to install
import { spawnSync } from "node:child_process";
import { accessSync, constants, readdirSync, readFileSync } from "node:fs";
import { delimiter, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./ensure.mjs";

/**
 * The slow rest, for `npm run test:full`: suites that start container engines, servers or very many processes, and
 * long searches for counter-examples. `npm test` stays below six minutes on two cores without them.
 */
const FULL = [
  "test/cluster/**",
  "test/{docker,ssh,singularity,modal,daytona,remote,faults}/**",
  "test/conformance/{docker,podman,ssh,singularity,modal,daytona,local-plain,local-sandbox,page-environment}.test.ts",
  "test/attacks/{gate-on-every-door,bad-handlers,execute-code-*}.test.ts",
  "test/attacks/lesson-{07,08,09,10,13,26,30,33}-*.test.ts",
  "test/{sandbox,build,bench}/**",
  "test/conformance/{local,suite}.test.ts",
  "test/cli/{without-perl,check,term,parallel-writers,mcp-install,streams,approval-prompt,processes,exit-codes,mcp,plugins,tool-register,chunk-loader,hanging-server,tool-authors,first-contact,live-output,page,completion,setup-browser,setup-model}.test.ts",
  "test/conformance/mcp-{client,server}.test.ts",
  "test/{sources,server}/mcp/peers.test.ts",
  "test/cron/{processes,cronjob}.test.ts",
  "test/{config,grants}/edit.test.ts",
  "test/sources/yaml/docs.test.ts",
  "test/store/journal-processes.test.ts",
  "test/agent/sessions/{processes,large}.test.ts",
  "test/agent/memory/processes.test.ts",
  "test/cli/{sessions,backup,settings-stay,migrate/migrate}.test.ts",
  "test/{chat/{lesson-*,turns},stories/kill-and-resume,agent/snapshots}.test.ts",
  "test/gateway/{processes,lessons,email-lessons}.test.ts",
  "test/conformance/gateway-*.test.ts",
  "test/stories/{skills,cli,doors,crash,gateway,approve-elsewhere}.test.ts",
  "test/hostile/{rest,jobs}.test.ts",
  "test/tools/code/quality.test.ts",
  "test/{policy/engine-laws,shell/agreement,shell/corpus-generated}.test.ts",
  "test/examples/**",
  "test/env/{local-exec,local-spawn,launcher,runtime-exit,shell-state}.test.ts",
  "test/tools/code/{execute-code,execute-kernel,debug,quickjs-escapes}.test.ts",
  "test/tools/files/file-compress.test.ts",
  "test/tools/examples-with-programs.test.ts",
  "test/tools/platform/{git-operations,docker-manage,podman-manage}.test.ts",
  "test/tools/multimedia/{chart-generate,pdf-extract,pdf-figures,vision-analyze}.test.ts",
  "test/tools/multimedia/{local-speech,audio-transcribe,text-to-speech}.test.ts",
  "test/tools/browser/{pages,attacks,life,figures,vision}.test.ts",
  "test/tools/system/{background,terminal-pty}.test.ts",
  "test/tools/bounded-memory.test.ts",
  "test/pty/local-pty.test.ts",
  "test/tools/platform/{radicale,calendar-files,email-send}.test.ts",
  "test/plugins/rl/rl.test.ts",
  "test/sources/mcp/{connection,robustness,attacks,questions}.test.ts",
  "test/sources/plugins/{isolation,states,install,contributions}.test.ts",
  "test/{weights/fetch-weights,runtime/packages}.test.ts",
  "test/web/**",
  "test/server/{serve-command,page,approvals,mcp/approvals,acp/*}.test.ts",
  "test/adapters/**",
  "test/attacks/{bad-input,hostile-documents,lesson-2{4,5}-*}.test.ts",
  "test/tools/platform/{database-*,cloud-storage,spreadsheet}.test.ts",
  "test/fuzz/{regexes,hostile-bodies}.test.ts",
  "test/{config/laws,processes/table,settle/linear-time,approvals/interleaved,policy/paths-oracle,store/bit-flips}.test.ts",
];

/** Asks nothing of Node that others do not ask as well: the same on every version, so one is enough. */
const SAME_ON_EVERY_NODE = [
  "test/{shell,policy,places,settle,decode,grants,reviewer,protocol,search,base,registry,tool,types}/**",
  "test/{attacks,approvals,config,cron,laws,model,undo,agent,gateway,hostile,stories,sources,discovery}/**",
  "test/tools/{agent,browser,code,multimedia,platform}/**",
  "test/{architecture,tools/pages}.test.ts",
];

/**
 * The globs of a part: `quick` (npm test), `full` (the slow rest), `second-node` (of the quick tests, those that may
 * turn out otherwise on another Node), or `all`.
 */
export function globsOf(part) {
  const tests = (patterns) => patterns.map((pattern) => pattern.replace(/\*\*$/, "**/*.test.ts"));
  const everything = { include: ["test/**/*.test.ts"], exclude: [] };
  if (part === "full") return { include: tests(FULL), exclude: [] };
  if (part === "quick") return { ...everything, exclude: tests(FULL) };
  if (part === "second-node") return { ...everything, exclude: tests([...FULL, ...SAME_ON_EVERY_NODE]) };
  return everything;
}

/** Daemons lie where the path of an ordinary shell does not lead. */
const FOLDERS = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"];

/** Needs that are no program: a reason why they are not met, or undefined. */
const SPECIAL = {
  root: () => (process.getuid?.() === 0 ? undefined : "needs root"),
  namespaces: () => {
    if (!isThere("ip")) return missing(["ip"]);
    const works = spawnSync("unshare", ["--net", "true"]).status === 0 && process.getuid?.() === 0;
    return works ? undefined : "[ci-cannot] this machine lets nobody make networks of their own";
  },
  apptainer: () =>
    process.env.HERMES_TEST_APPTAINER !== undefined || isThere("apptainer")
      ? undefined
      : "[ci-cannot] there is no apptainer on this machine",
  /** There may be a bubblewrap that is not allowed to do anything. */
  bwrap: () => {
    if (!isThere("bwrap")) return missing(["bwrap"]);
    const works = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-pid", "true"]).status === 0;
    return works ? undefined : "[ci-cannot] this machine lets bubblewrap make no namespaces";
  },
};

/** Test files of a part that cannot run here: path → reason, which says what to install. */
export async function unmetFiles(part) {
  // Not at the top: this also runs before packages are installed.
  const { default: picomatch } = await import("picomatch");
  const { include, exclude } = globsOf(part);
  const isInPart = picomatch(include, { ignore: exclude });
  const unmet = new Map();
  const folder = join(root, "test");
  const reasons = new Map();
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const parent = entry.parentPath ?? entry.path;
    if (!entry.isFile() || !entry.name.endsWith(".test.ts") || parent.includes("node_modules")) continue;
    const path = join(parent, entry.name);
    const [, needs] = /^\/\/ @needs (.+)$/m.exec(headOf(path)) ?? [];
    if (needs === undefined) continue;
    if (!reasons.has(needs)) reasons.set(needs, reasonFor(needs.trim().split(/\s+/)));
    const reason = reasons.get(needs);
    const file = relative(root, path);
    if (reason !== undefined && isInPart(file)) unmet.set(file, reason);
  }
  return unmet;
}

function headOf(path) {
  return readFileSync(path, "utf8").split(/^import /m, 1)[0];
}

function reasonFor(names) {
  for (const name of names.filter((each) => Object.hasOwn(SPECIAL, each))) {
    const reason = SPECIAL[name]();
    if (reason !== undefined) return reason;
  }
  const gone = names.filter((name) => !Object.hasOwn(SPECIAL, name) && !isThere(name));
  return gone.length === 0 ? undefined : missing(gone);
}

function missing(names) {
  const packages = packagesOf(names);
  const how = packages.length === names.length ? `: apt-get install ${packages.join(" ")}` : "";
  return `not installed: ${names.join(", ")}${how}`;
}

function packagesOf(names) {
  const known = JSON.parse(readFileSync(join(root, "test", "needs.json"), "utf8"));
  return [...new Set(names.flatMap((name) => known[name] ?? []))];
}

function isThere(name) {
  return (isAbsolute(name) ? [name] : FOLDERS.map((folder) => join(folder, name))).some((path) => {
    try {
      accessSync(path, isAbsolute(name) ? constants.R_OK : constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const known = JSON.parse(readFileSync(join(root, "test", "needs.json"), "utf8"));
  console.log(packagesOf(Object.keys(known).filter((name) => !isThere(name))).join(" "));
}
