import { existsSync, statSync } from "node:fs";
import {
  access,
  chmod,
  constants,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  symlink,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { CONVERSATION_MIGRATIONS } from "../../agent/sessions/schema.js";
import { errnoOf, messageOf } from "../../base/errno.js";
import { GATEWAY_MIGRATIONS } from "../../gateway/schema.js";
import { runningServer } from "../../runtime/running-server.js";
import { DatabaseError, isDiskFull } from "../../store/database-error.js";
import { timeForFileNames } from "../../store/log-damage.js";
import { MIGRATIONS } from "../../store/migrations.js";
import { openDatabase } from "../../store/sqlite-driver.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { assertOwnHome } from "../home-access.js";
import { assertPerson, confirm } from "../person.js";
import { isBackedUp, isMadeFromRest } from "./home-files.js";
import { CONTENT, checkedManifest, type Manifest } from "./manifest.js";

/** Puts a backup in the place of the home, and keeps what was there. */
export async function restore(context: CommandContext): Promise<void> {
  const { home, out, flags } = context;
  assertPerson("Backups are restored by a person", "Ask the person to do it.");
  const file = resolve(context.args[0] ?? "");
  assertFile(file);
  assertOwnHome(home);
  await assertUnused(home);
  const created = await mkdir(home, { recursive: true, mode: 0o700 });
  let restored = false;
  // In the home: only there is it sure that a rename is enough to put a file into its place.
  const staging = await mkdtemp(join(home, ".restore-"));
  try {
    await unpack(file, staging);
    const manifest = await checkedManifest(staging, file);
    assertKnownFormats(manifest, file);
    await complete(join(staging, CONTENT), manifest);
    const plan = await planFor(home, join(staging, CONTENT), manifest);
    if (!out.json) show(context, { file, manifest, plan });
    const dryRun = flags.dryRun === true;
    const { version, created_at, masked = [] } = manifest;
    const summary = { file, version, created_at, home, ...plan, masked };
    if (dryRun) return out.json ? out.value({ ok: true, dry_run: true, ...summary, kept: null }) : undefined;
    await confirm({ question: "Restore it?", yes: flags.yes === true, refused: "Nothing was changed" });
    await assertUnused(home);
    const kept = await exchange({ home, from: join(staging, CONTENT), plan });
    restored = true;
    const text = `${out.mark("ok")} Restored.${kept === undefined ? "" : ` What was there is in ${kept}`}`;
    out.result({ ok: true, dry_run: false, ...summary, kept: kept ?? null }, text);
  } finally {
    // Unpacking that failed may still be writing for a moment.
    await rm(staging, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    if (created !== undefined && !restored) await removeEmpty(home, created);
  }
}

function assertFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  const hint = "Name one that `hermes backup FILE` made.";
  if (found === undefined) throw commandError("not_found", `There is no file ${file}`, hint);
  if (found.isDirectory()) throw commandError("bad_request", `${file} is a folder, not a backup`, hint);
}

/** The folders from `first` down to `folder`, as far as nobody has put anything into them. */
async function removeEmpty(folder: string, first: string): Promise<void> {
  for (let one = folder; one.startsWith(first); one = dirname(one)) {
    const removed = await rmdir(one).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

/** Neither a server, nor any other process that has a database of this home open. */
async function assertUnused(home: string): Promise<void> {
  const server = await runningServer(home);
  if (server !== undefined) {
    throw commandError(
      "unavailable",
      `A server of this home runs (${server.url}, process ${server.pid})`,
      "Stop it, then restore. Nothing was changed.",
    );
  }
  const names = existsSync(home) ? (await readdir(home)).filter((name) => name.endsWith(".db")) : [];
  for (const name of names) {
    if (isBackedUp(name, { secrets: true }) && isOpenElsewhere(join(home, name))) {
      throw commandError(
        "unavailable",
        `${join(home, name)} is in use by another hermes`,
        "End chats, gateways and workers of this home, then restore. Nothing was changed.",
      );
    }
  }
}

/** SQLite leaves the write-ahead log only when nobody else has the database open; the next opening goes back to it. */
function isOpenElsewhere(path: string): boolean {
  const db = openDatabase(path);
  try {
    db.exec("PRAGMA journal_mode = DELETE");
    return false;
  } catch (error) {
    // A damaged one may be the very reason for restoring.
    if (error instanceof DatabaseError) return error.kind === "busy";
    throw error;
  } finally {
    db.close();
  }
}

async function unpack(file: string, folder: string): Promise<void> {
  const { extract } = await import("tar");
  try {
    await extract({
      file,
      cwd: folder,
      strict: true,
      preserveOwner: false,
      filter: (_path, entry) => !("type" in entry) || entry.type === "File" || entry.type === "Directory",
    });
  } catch (error) {
    if (isDiskFull(error, folder))
      throw commandError(
        "unavailable",
        `${file} cannot be unpacked: the disk of ${dirname(folder)} is full`,
        "Free some space: a restore keeps what was there. Nothing was changed.",
      );
    throw commandError(
      "bad_request",
      `${file} cannot be unpacked: ${messageOf(error)}`,
      "Nothing was changed.",
    );
  }
}

const FORMATS: Readonly<Record<string, number>> = {
  "state.db": MIGRATIONS.length,
  "sessions.db": CONVERSATION_MIGRATIONS.length,
  "gateways.db": GATEWAY_MIGRATIONS.length,
};

function assertKnownFormats({ databases, version }: Manifest, file: string): void {
  for (const [path, format] of Object.entries(databases)) {
    const known = FORMATS[path];
    if (known === undefined || format <= known) continue;
    throw commandError(
      "unavailable",
      `${file} was made by version ${version}: its ${path} has format ${format}, this version knows ${known}`,
      "Upgrade hermes-tools to that version or a later one, then restore. Nothing was changed.",
    );
  }
}

/** Modes as they were, and the links, which lie in the manifest. */
async function complete(content: string, { files, links }: Manifest): Promise<void> {
  for (const [path, { mode }] of Object.entries(files)) await chmod(join(content, path), mode);
  for (const [path, target] of Object.entries(links)) {
    await mkdir(dirname(join(content, path)), { recursive: true, mode: 0o700 });
    await symlink(target, join(content, path));
  }
}

interface Plan {
  /** Entries of the home that make way for those of the backup. */
  readonly replaced: readonly string[];
  /** Entries that are not there now. */
  readonly added: readonly string[];
  /** Entries that the backup does not have. */
  readonly removed: readonly string[];
}

async function planFor(home: string, content: string, { secrets }: Manifest): Promise<Plan> {
  const brought = await readdir(content);
  // Whatever a backup brings: what it takes the place of is kept.
  const present = (await readdir(home)).filter(
    (name) => isBackedUp(name, { secrets }) || brought.includes(name),
  );
  return {
    replaced: brought.filter((name) => present.includes(name)).sort(),
    added: brought.filter((name) => !present.includes(name)).sort(),
    removed: present.filter((name) => !brought.includes(name)).sort(),
  };
}

function show(
  { out, home }: CommandContext,
  shown: { readonly file: string; readonly manifest: Manifest; readonly plan: Plan },
): void {
  const { file, manifest, plan } = shown;
  const { replaced, added, removed } = plan;
  out.line(`${file}: made ${manifest.created_at} by version ${manifest.version}`);
  out.line(`In ${home}:`);
  if (replaced.length > 0) out.line(`  replaced  ${replaced.join(", ")}`);
  if (added.length > 0) out.line(`  added     ${added.join(", ")}`);
  if (removed.length > 0) out.line(`  removed   ${removed.join(", ")}`);
  if (!manifest.secrets) out.line("  kept      secrets (.env, tokens, keys): the backup has none");
  const { masked = [] } = manifest;
  if (masked.length === 0) return;
  out.line(`  masked    ${masked.join(", ")}`);
  const name = "$" + "{NAME}";
  out.line(
    `  ${out.mark("warning")} Where [REDACTED…] stands in them, write the secret again, or ${name} and the secret as NAME into .env`,
  );
}

/** Moves the old entries aside and the new ones in; a step that fails takes all of it back. */
async function exchange(wanted: {
  readonly home: string;
  readonly from: string;
  readonly plan: Plan;
}): Promise<string | undefined> {
  const { home, from, plan } = wanted;
  const made = (await readdir(home)).filter(isMadeFromRest);
  const old = [...new Set([...plan.replaced, ...plan.removed, ...made])];
  const aside = old.length > 0 ? await asideFor(home) : undefined;
  const moves = [
    ...old.map((name) => [join(home, name), join(aside ?? home, name)] as const),
    ...[...plan.replaced, ...plan.added].map((name) => [join(from, name), join(home, name)] as const),
  ];
  const done: (readonly [string, string])[] = [];
  try {
    for (const [source, target] of moves) {
      await rename(source, target);
      done.push([source, target]);
    }
  } catch (error) {
    for (const [source, target] of done.reverse()) await rename(target, source);
    if (aside !== undefined) await rm(aside, { recursive: true, force: true });
    throw commandError(
      "failed",
      `The backup was not restored: ${messageOf(error)}`,
      "Everything is as before.",
    );
  }
  return aside;
}

/** Beside the home; inside of it where it is a volume or its folder is not ours. */
async function asideFor(home: string): Promise<string> {
  const parent = dirname(home);
  const name = `before-restore-${timeForFileNames()}`;
  const isSameDisk = (await stat(parent)).dev === (await stat(home)).dev;
  const isOurs = await access(parent, constants.W_OK).then(
    () => true,
    () => false,
  );
  return newFolder(isSameDisk && isOurs ? join(parent, `${basename(home)}.${name}`) : join(home, name));
}

/** Its name has the second, and somebody may restore twice within one. */
async function newFolder(wanted: string): Promise<string> {
  for (let count = 1; ; count++) {
    const folder = count === 1 ? wanted : `${wanted}-${count}`;
    try {
      await mkdir(folder, { mode: 0o700 });
      return folder;
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
}
