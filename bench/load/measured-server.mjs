// The real server under load, with a second-by-second record of what it holds.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startServer } from "../serve.mjs";

const PROBE = fileURLToPath(new URL("./probe.mjs", import.meta.url));

/** Runs `work({ server, home, samples })` against a server of its own and answers with what it gave, and the record. */
export async function withMeasuredServer(
  { dist, config = "", sockets = 256, collectEvery = 0, nodeArgs = [], tools = "", env = {} },
  work,
) {
  const home = await mkdtemp(join(tmpdir(), "hermes-load-"));
  const record = join(home, "probe.jsonl");
  await mkdir(join(home, "hermes"));
  await writeFile(join(home, "hermes", "config.yaml"), config);
  if (tools !== "") {
    await mkdir(join(home, "hermes", "tools"));
    await writeFile(join(home, "hermes", "tools", "load.yaml"), tools);
  }
  const zombies = { most: 0 };
  let server;
  let watch;
  try {
    server = await startServer({
      dist,
      home,
      sockets,
      nodeArgs: ["--import", PROBE, ...nodeArgs],
      env: { ...env, HERMES_LOAD_PROBE: record, HERMES_LOAD_COLLECT: String(collectEvery) },
    });
    const { pid } = server;
    watch = setInterval(() => {
      zombies.most = Math.max(zombies.most, zombiesOf(pid));
    }, 500);
    const gave = await work({ server, home, samples: () => readSamples(record) });
    // The record is written once a second, and work may be quicker than that.
    while (!existsSync(record)) await new Promise((resolve) => setTimeout(resolve, 100));
    const samples = readSamples(record);
    clearInterval(watch);
    await server.stop();
    server = undefined;
    return { ...gave, samples, zombies: zombies.most, orphans: await orphansOf(home), files: sizesIn(home) };
  } finally {
    clearInterval(watch);
    await server?.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Of all its threads: what others do on the machine changes how long something takes, and this only a little. */
export function cpuMsOf(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  const spent = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8"));
  return spent.reduce((sum, line) => sum + Number(line.split(" ")[0]), 0) / 1e6;
}

function readSamples(file) {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  const samples = lines.map((line) => JSON.parse(line));
  const begun = samples[0]?.at ?? 0;
  return samples.map((sample) => ({ ...sample, second: (sample.at - begun) / 1_000 }));
}

/** The kernel lists children where it can: reading all of /proc would hold up the callers for some milliseconds. */
function zombiesOf(parent) {
  const listed = childrenOf(parent);
  const children =
    listed === undefined ? processes().filter(({ ppid }) => ppid === parent) : listed.flatMap(processOf);
  return children.filter(({ state }) => state === "Z").length;
}

function childrenOf(parent) {
  try {
    const children = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim();
    return children === "" ? [] : children.split(" ");
  } catch {
    return undefined;
  }
}

/** What still runs with this home in its environment a moment after the server has gone. */
async function orphansOf(home) {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  return processes().filter(({ pid }) => environment(pid).includes(home)).length;
}

function processes() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap(processOf);
}

/** None when it has gone. */
function processOf(pid) {
  try {
    // The name in brackets may itself hold brackets and blanks.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [state, ppid] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return [{ pid: Number(pid), state, ppid: Number(ppid) }];
  } catch {
    return [];
  }
}

function environment(pid) {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1");
  } catch {
    return "";
  }
}

/** Bytes and files per entry of the Hermes home: what a long life leaves on the disk. */
function sizesIn(home) {
  const sizes = {};
  const folder = join(home, "hermes");
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const [top] = path.slice(folder.length + 1).split("/");
    sizes[top] ??= { files: 0, bytes: 0 };
    const size = sizes[top];
    size.files += 1;
    size.bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
  return sizes;
}
