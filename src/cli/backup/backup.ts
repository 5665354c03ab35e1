import { existsSync, statSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { errnoOf, messageOf } from "../../base/errno.js";
import { sizeText } from "../../base/human.js";
import { SecretRegistry } from "../../policy/secrets.js";
import { addKnownSecrets } from "../../runtime/known-secrets.js";
import { explainStorageError, isDiskFull } from "../../store/database-error.js";
import { formatOf } from "../../store/migrations.js";
import { openDatabase } from "../../store/sqlite-driver.js";
import { syncFolder } from "../../store/wal-sync.js";
import { VERSION } from "../../version.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { assertPerson } from "../person.js";
import { type HomeEntry, homeEntries, unlessMissing } from "./home-files.js";
import { type BackedUpFile, CONTENT, MANIFEST, manifestText, sha256Of } from "./manifest.js";
import { maskFile } from "./mask.js";

/** Everything of the home that cannot be made again, in one file; servers may run meanwhile. */
export async function backup(context: CommandContext): Promise<void> {
  const { home, out, options, flags } = context;
  const secrets = options.secrets === true;
  if (secrets) assertPerson("Secrets are copied by a person", "Leave --secrets out.");
  const file = resolve(context.args[0] ?? "");
  if (!existsSync(home)) {
    throw commandError(
      "not_found",
      `There is no Hermes home at ${home}`,
      "Name it with --home or HERMES_HOME.",
    );
  }
  if (existsSync(file) && statSync(file).isDirectory())
    throw commandError("bad_request", `${file} is a folder`, "Name a file in it.");
  if (existsSync(file) && flags.yes !== true) {
    throw commandError(
      "bad_request",
      `${file} exists already`,
      "Name another file, or add --yes to replace it.",
    );
  }
  const staging = await stagingFor(file);
  try {
    const made = await snapshot({ context, staging, secrets });
    const { create } = await import("tar");
    const archive = join(staging, "archive");
    await create({ file: archive, cwd: staging, gzip: true, portable: true }, [MANIFEST, CONTENT]);
    const handle = await open(archive, "r+");
    await handle.chmod(0o600);
    await handle.sync().finally(() => handle.close());
    await rename(archive, file);
    await syncFolder(dirname(file));
    const { size } = await stat(file);
    const result = { ok: true, file, bytes: size, sha256: await sha256Of(file), secrets, ...made };
    if (out.json) return out.value(result);
    out.line(`${out.mark("ok")} ${file}: ${made.files} files, ${sizeText(size, "binary")}`);
    out.line(`  sha256 ${result.sha256}`);
    for (const path of made.masked) out.line(`  ${out.mark("warning")} secrets in ${path} are masked`);
    if (!secrets) out.note("Secrets (.env, tokens, keys) are not in it; --secrets takes them along.");
  } catch (error) {
    throw refused(error, file);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** A full disk and files of somebody else are no defect of the program. */
function refused(error: unknown, file: string): unknown {
  if (isDiskFull(error, dirname(file)))
    return commandError(
      "unavailable",
      `${file} cannot be written: the disk is full`,
      "Free some space, or name a file on another disk.",
    );
  const code = errnoOf(error);
  if (code !== "EACCES" && code !== "EPERM") return error;
  return commandError(
    "unavailable",
    `The home cannot be read: ${messageOf(error)}`,
    "All of it belongs into a backup: run it as the owner of that file, or move the file out of the home.",
  );
}

/** Beside the file, where there is room for it; nobody else may look into it. */
async function stagingFor(file: string): Promise<string> {
  try {
    return await mkdtemp(join(dirname(file), `.${basename(file)}-`));
  } catch (error) {
    throw commandError(
      "bad_request",
      `${dirname(file)} cannot be written: ${explainStorageError(error)}`,
      "Name a file in a folder that exists and is yours.",
    );
  }
}

interface Snapshot {
  readonly files: number;
  readonly databases: Readonly<Record<string, number>>;
  /** Files in which secrets stood, and stand no more in the backup. */
  readonly masked: readonly string[];
}

/** Copies first and packs then: what is hashed is what is packed, whatever happens in the home. */
async function snapshot(wanted: {
  readonly context: CommandContext;
  readonly staging: string;
  readonly secrets: boolean;
}): Promise<Snapshot> {
  const { context, staging, secrets } = wanted;
  const known = secrets ? undefined : await knownSecrets(context);
  const files: Record<string, BackedUpFile> = {};
  const links: Record<string, string> = {};
  const databases: Record<string, number> = {};
  const masked: string[] = [];
  await mkdir(join(staging, CONTENT), { mode: 0o700 });
  for await (const entry of homeEntries(context.home, { secrets })) {
    const { path } = entry;
    if (entry.target !== undefined) {
      links[path] = entry.target;
      continue;
    }
    const copy = await copied({ entry, home: context.home, staging, known });
    if (copy === undefined) continue;
    if (copy.format !== undefined) databases[path] = copy.format;
    if (copy.masked) masked.push(path);
    const { size } = await stat(copy.to);
    files[path] = { bytes: size, mode: copy.mode, sha256: await sha256Of(copy.to) };
  }
  const manifest = { format: 1, version: VERSION, created_at: new Date().toISOString(), secrets } as const;
  await writeFile(join(staging, MANIFEST), manifestText({ ...manifest, databases, files, links, masked }));
  return { files: Object.keys(files).length + Object.keys(links).length, databases, masked };
}

async function knownSecrets(context: CommandContext): Promise<SecretRegistry> {
  const config = await context.config();
  const unread = config.files.find(({ state }) => state === "broken" || state === "last-good");
  if (unread !== undefined) {
    throw commandError(
      "bad_request",
      `${unread.path} cannot be read as settings, so nobody knows which secrets stand in it to be masked`,
      "Mend it (hermes config check says what is wrong), or take the secrets along with --secrets.",
    );
  }
  const known = new SecretRegistry();
  addKnownSecrets(known, config);
  // What only looks like a credential may be an example in a skill, which must come back as it was.
  known.patterns = false;
  return known;
}

interface Copy {
  readonly to: string;
  readonly mode: number;
  readonly format?: number;
  readonly masked: boolean;
}

/** Undefined for a file that was removed meanwhile. */
async function copied(wanted: {
  readonly entry: HomeEntry;
  readonly home: string;
  readonly staging: string;
  readonly known: SecretRegistry | undefined;
}): Promise<Copy | undefined> {
  const { entry, home, staging, known } = wanted;
  const from = join(home, entry.path);
  const to = join(staging, CONTENT, entry.path);
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  const found = await stat(from).catch(() => undefined);
  if (found === undefined) return undefined;
  const mode = found.mode & 0o777;
  if (entry.kind === "database") {
    return { to, mode, format: copyDatabase({ from, to, secrets: known === undefined }), masked: false };
  }
  const isCopied = await unlessMissing(() => copyFile(from, to).then(() => true));
  if (isCopied === undefined) return undefined;
  return { to, mode, masked: known !== undefined && (await maskFile(to, known)) };
}

/** One consistent state of a database that others may be writing to; returns its format number. */
function copyDatabase(wanted: {
  readonly from: string;
  readonly to: string;
  readonly secrets: boolean;
}): number {
  const { from, to, secrets } = wanted;
  try {
    const db = openDatabase(from);
    try {
      db.exec("PRAGMA busy_timeout = 5000");
      db.prepare("VACUUM INTO ?").run(to);
    } finally {
      db.close();
    }
    return secrets ? formatOf(to) : withoutOpenQuestions(to);
  } catch (error) {
    if (isDiskFull(error, dirname(to))) throw error;
    throw commandError(
      "unavailable",
      `${from} cannot be copied: ${explainStorageError(error)}`,
      "Run `hermes doctor`: a damaged database is recovered when it is opened.",
    );
  }
}

/** A call that waits for a yes is kept with its secrets, and its signature is worth nothing without the key. */
function withoutOpenQuestions(path: string): number {
  const db = openDatabase(path);
  try {
    const found = db
      .prepare("SELECT 1 AS one FROM sqlite_schema WHERE type = 'table' AND name = 'approvals'")
      .get();
    if (found !== undefined)
      db.exec("PRAGMA secure_delete = ON; DELETE FROM approvals WHERE call IS NOT NULL");
  } finally {
    db.close();
  }
  return formatOf(path);
}
