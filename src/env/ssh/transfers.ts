import { spawn } from "node:child_process";
import { cp, lstat, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ToolError } from "../../tool/errors.js";
import type { FileStat, Transfer, TransferReport } from "../environment.js";

/** Below this, starting sftp takes longer than it saves. */
const LARGE_BYTES = 4_194_304;

export interface SftpHost {
  /** Only files that are worth it, or everything it can do. */
  readonly scope: "large files" | "all";
  /** The `ssh` that sftp goes through. */
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  /** A connection to go over, open until it is released. */
  borrow(): Promise<{ readonly socket: string; release(): void }>;
  /** Of a path on the host. */
  stat(path: string): Promise<FileStat | undefined>;
}

type Kind = "file" | "directory" | "none" | "other";

interface Found {
  readonly kind: Kind;
  readonly size: number;
}

/**
 * Copies with sftp what sftp copies faithfully: files and folders of files, with modes and times. The answer is
 * undefined when something else has to do it: links, devices, paths with line breaks, servers without sftp.
 */
export async function pushWithSftp(host: SftpHost, transfer: Transfer): Promise<TransferReport | undefined> {
  const source = await local(transfer.from);
  if (!wanted(host, source)) return undefined;
  const { kind } = source;
  if (!replaceable(kind, (await remote(host, transfer.to)).kind)) return undefined;
  const counted = await countFiles(transfer.from);
  if (counted === undefined) return undefined;
  const done = await copy({ host, verb: "put", kind, transfer });
  return done ? counted : undefined;
}

/** Into a folder beside the target first, so that a copy that breaks off leaves nothing that looks complete. */
export async function fetchWithSftp(host: SftpHost, transfer: Transfer): Promise<TransferReport | undefined> {
  const source = await remote(host, transfer.from);
  if (!wanted(host, source)) return undefined;
  const { kind } = source;
  const before = (await local(transfer.to)).kind;
  if (!replaceable(kind, before)) return undefined;
  await mkdir(dirname(transfer.to), { recursive: true });
  const beside = await mkdtemp(join(dirname(transfer.to), ".hermes-fetch-"));
  const arrived = join(beside, "arrived");
  try {
    if (kind === "directory") await mkdir(arrived);
    if (!(await copy({ host, verb: "get", kind, transfer: { ...transfer, to: arrived } }))) return undefined;
    const counted = await countFiles(arrived);
    if (counted === undefined) return undefined;
    if (kind === "directory" && before === "directory") {
      await cp(arrived, transfer.to, { recursive: true, preserveTimestamps: true });
    } else {
      await rename(arrived, transfer.to);
    }
    return counted;
  } finally {
    await rm(beside, { recursive: true, force: true });
  }
}

async function copy(job: {
  readonly host: SftpHost;
  readonly verb: "get" | "put";
  readonly kind: Kind;
  readonly transfer: Transfer;
}): Promise<boolean> {
  const { host, verb, transfer } = job;
  const folder = job.kind === "directory";
  // With the dot, a folder that is there already gets the contents and not the folder itself.
  const from = batchWord(folder ? `${transfer.from}/.` : transfer.from);
  const to = batchWord(transfer.to);
  if (from === undefined || to === undefined) return false;
  const make = folder && verb === "put" ? [`-mkdir ${to}`] : [];
  const connection = await host.borrow();
  try {
    return await runSftp({
      socket: connection.socket,
      program: host.program,
      env: host.env,
      commands: [...make, `${verb} ${folder ? "-Rp" : "-p"} ${from} ${to}`],
      signal: transfer.signal,
    });
  } finally {
    connection.release();
  }
}

/** A file may take a file's place, and a folder may be poured into a folder. */
function replaceable(what: Kind, existing: Kind): boolean {
  return (what === "file" || what === "directory") && (existing === "none" || existing === what);
}

function wanted(host: SftpHost, source: Found): boolean {
  return host.scope === "all" || (source.kind === "file" && source.size >= LARGE_BYTES);
}

async function local(path: string): Promise<Found> {
  try {
    const facts = await lstat(path);
    return { kind: facts.isFile() ? "file" : facts.isDirectory() ? "directory" : "other", size: facts.size };
  } catch {
    return { kind: "none", size: 0 };
  }
}

async function remote(host: SftpHost, path: string): Promise<Found> {
  const facts = await host.stat(path);
  if (facts === undefined) return { kind: "none", size: 0 };
  return { kind: facts.type === "symlink" ? "other" : facts.type, size: facts.size };
}

/** Undefined when there is anything but files and folders. */
async function countFiles(path: string): Promise<TransferReport | undefined> {
  const facts = await lstat(path);
  if (facts.isFile()) return { files: 1, bytes: facts.size };
  if (!facts.isDirectory()) return undefined;
  const total = { files: 0, bytes: 0 };
  for (const name of await readdir(path, { encoding: "buffer" })) {
    // A name that is no UTF-8 would be another one by the time it is used.
    const text = name.toString("utf8");
    const below = Buffer.from(text).equals(name) ? await countFiles(join(path, text)) : undefined;
    if (below === undefined) return undefined;
    total.files += below.files;
    total.bytes += below.bytes;
  }
  return total;
}

export interface SftpRun {
  /** Of the connection it goes over. */
  readonly socket: string;
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  /** Lines of a batch file; a leading dash lets one fail. */
  readonly commands: readonly string[];
  readonly signal?: AbortSignal | undefined;
}

/** The host is never asked for: the socket knows it. Without the socket nothing may be connected. */
const NO_HOST = "hermes";
const NO_NEW_CONNECTION = "ProxyCommand=false";

/** Whether everything was done. Why not does not matter: another way of copying is tried, and says it better. */
export async function runSftp(run: SftpRun): Promise<boolean> {
  refuseCancelled(run.signal);
  const child = spawn("sftp", [...sftpArguments(run)], {
    env: { ...run.env, LC_ALL: "C" },
    stdio: ["pipe", "ignore", "pipe"],
    detached: true,
  });
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (complaints.length < 65_536) complaints += chunk.toString("utf8");
  });
  child.stdin.on("error", () => {});
  child.stdin.end(`${run.commands.join("\n")}\n`);
  const onAbort = () => endGroup(child.pid);
  run.signal?.addEventListener("abort", onAbort, { once: true });
  const code = await new Promise<number>((resolve) => {
    child.once("error", () => resolve(127));
    child.once("close", (exitCode) => resolve(exitCode ?? 255));
  });
  run.signal?.removeEventListener("abort", onAbort);
  refuseCancelled(run.signal);
  // Links and devices inside a folder are left out with a remark (which `-q` would hide), not with an error.
  return code === 0 && !complaints.includes("regular file");
}

/** A name as one word of a batch file, taken as it is; undefined when the format has no way to write it. */
export function batchWord(path: string): string | undefined {
  return /[\n\r\0]/.test(path) ? undefined : `"${path.replace(/["\\]/g, "\\$&")}"`;
}

function sftpArguments(run: SftpRun): readonly string[] {
  const options = ["BatchMode=yes", "ControlMaster=no", `ControlPath="${run.socket}"`, NO_NEW_CONNECTION];
  return [
    "-b",
    "-",
    "-F",
    "none",
    "-S",
    run.program,
    ...options.flatMap((option) => ["-o", option]),
    NO_HOST,
  ];
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function refuseCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new ToolError("The copy was cancelled; what had arrived by then may be incomplete.", {
    code: "cancelled",
  });
}
