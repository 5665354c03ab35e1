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
    throw damaged(archive, `${path} ${how}`);
  }
  const content = join(folder, CONTENT);
  const unpacked = await readdir(content, { recursive: true, withFileTypes: true }).catch(() => undefined);
  if (unpacked === undefined) throw damaged(archive, `it has no folder ${CONTENT}`);
  const paths = unpacked
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  const added = paths
    .map((path) => relative(content, path))
    .find((path) => !Object.hasOwn(manifest.files, path));
  if (added === undefined) return manifest;
  throw damaged(archive, `it does not list ${added}`);
}

const BACKUP_HINT = "`hermes backup FILE` makes one.";

function parsed(text: string, archive: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw damaged(archive, `${MANIFEST} is no JSON`);
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
  if (sha256 !== digest(manifest)) throw damaged(archive, "its list of files was changed");
  if (!isManifest(manifest)) throw damaged(archive, "its list of files is not one");
  const paths = [...Object.keys(manifest.files), ...Object.keys(manifest.links)];
  const outside = paths.find((path) => !isBelow(path, manifest.links));
  if (outside !== undefined) throw damaged(archive, `${outside} would be outside of the home`);
  return manifest;
}

function damaged(archive: string, how: string): Error {
  return commandError("bad_request", `${archive} is damaged: ${how}`, "Nothing was changed.");
}

/** Its own hash is no proof: whoever changes a backup can make that, too. */
function isManifest(value: Readonly<Record<string, unknown>>): value is Record<string, unknown> & Manifest {
  const { version, created_at, secrets, databases, files, links, masked = [] } = value;
  return (
    typeof version === "string" &&
    typeof created_at === "string" &&
    typeof secrets === "boolean" &&
    isRecordOf(databases, (format) => typeof format === "number") &&
    isRecordOf(files, isBackedUpFile) &&
    isRecordOf(links, (target) => typeof target === "string") &&
    Array.isArray(masked) &&
    masked.every((path) => typeof path === "string")
  );
}

function isRecordOf(value: unknown, isRight: (one: unknown) => boolean): boolean {
  return isRecord(value) && Object.values(value).every(isRight);
}

function isBackedUpFile(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { bytes, mode, sha256 } = value;
  return typeof bytes === "number" && typeof mode === "number" && typeof sha256 === "string";
}

/** Modes and links are set where a path leads, before anybody has said yes: neither up nor through one of the links. */
function isBelow(path: string, links: Manifest["links"]): boolean {
  const parts = path.split("/");
  if (parts.some((part) => part === "" || part === "." || part === "..")) return false;
  return !parts.some((_, depth) => depth > 0 && Object.hasOwn(links, parts.slice(0, depth).join("/")));
}

function digest(manifest: object): string {
  return createHash("sha256").update(canonicalJson(manifest)).digest("hex");
}

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}
