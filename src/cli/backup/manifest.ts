import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { pipeline } from "node:stream/promises";
import { canonicalJson } from "../../base/canonical-json.js";
import { isRecord } from "../../base/record.js";
import { commandError } from "../errors.js";

export const MANIFEST = "hermes-backup.json";
/** Beside the manifest, so that a file of the home cannot be mistaken for it. */
export const CONTENT = "home";

const FORMAT = 1;

export interface BackedUpFile {
  readonly bytes: number;
  readonly mode: number;
  readonly sha256: string;
}

/** The first member of a backup: what it holds, so that damage and additions are noticed. */
export interface Manifest {
  readonly format: typeof FORMAT;
  /** Of the program that wrote it. */
  readonly version: string;
  readonly created_at: string;
  readonly secrets: boolean;
  /** Format numbers of the databases, by path. */
  readonly databases: Readonly<Record<string, number>>;
  readonly files: Readonly<Record<string, BackedUpFile>>;
  readonly links: Readonly<Record<string, string>>;
  /** Files in which a mask stands for each secret; older backups do not say it. */
  readonly masked?: readonly string[];
}

export function manifestText(manifest: Manifest): string {
  return `${JSON.stringify({ ...manifest, sha256: digest(manifest) }, null, 1)}\n`;
}

/** Reads the manifest of an unpacked backup and holds every file against it. */
export async function checkedManifest(folder: string, archive: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST), "utf8").catch(() => undefined);
  if (text === undefined) {
    throw commandError("bad_request", `${archive} is not a backup: it has no ${MANIFEST}`, BACKUP_HINT);
  }
  const manifest = parsed(text, archive);
  for (const [path, { sha256 }] of Object.entries(manifest.files)) {
    const found = await sha256Of(join(folder, CONTENT, path)).catch(() => undefined);
    if (found === sha256) continue;
    const how = found === undefined ? "is missing" : "is not what was backed up";
    throw commandError("bad_request", `${archive} is damaged: ${path} ${how}`, "Nothing was changed.");
  }
  const content = join(folder, CONTENT);
  const unpacked = await readdir(content, { recursive: true, withFileTypes: true });
  const paths = unpacked
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const added = paths
    .map((path) => relative(content, path))
    .find((path) => !Object.hasOwn(manifest.files, path));
  if (added === undefined) return manifest;
  throw commandError(
    "bad_request",
    `${archive} is damaged: it does not list ${added}`,
    "Nothing was changed.",
  );
}

const BACKUP_HINT = "`hermes backup FILE` makes one.";

function parsed(text: string, archive: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw commandError(
      "bad_request",
      `${archive} is damaged: ${MANIFEST} is no JSON`,
      "Nothing was changed.",
    );
  }
  if (!isRecord(value) || typeof value.format !== "number") {
    throw commandError("bad_request", `${archive} is not a backup`, BACKUP_HINT);
  }
  if (value.format > FORMAT) {
    throw commandError(
      "unavailable",
      `${archive} was written by a newer version (${String(value.version)})`,
      "Upgrade hermes-tools, then restore it.",
    );
  }
  const { sha256, ...manifest } = value;
  if (sha256 !== digest(manifest)) {
    throw commandError(
      "bad_request",
      `${archive} is damaged: its list of files was changed`,
      "Nothing was changed.",
    );
  }
  return manifest as unknown as Manifest;
}

function digest(manifest: object): string {
  return createHash("sha256").update(canonicalJson(manifest)).digest("hex");
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
