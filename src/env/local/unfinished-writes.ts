import { randomBytes } from "node:crypto";
import { appendFileSync, lstatSync, mkdirSync, readlinkSync, rmSync } from "node:fs";
import * as fs from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "../../store/process-owner.js";

/**
 * Temporary files of a process that was killed while it wrote. Each process notes the folders in which it makes
 * some; the next one that writes removes what the dead have left.
 */
const TAG = randomBytes(3).toString("hex");
const noted = new Set<string>();
let ledger: string | undefined | "none";

/** A name for a temporary file in a folder, noted so that it can be found when this process dies. */
export function temporaryName(folder: string): string {
  if (!noted.has(folder)) {
    noted.add(folder);
    note(folder);
  }
  return `.hermes-${TAG}${randomBytes(3).toString("hex")}.tmp`;
}

/** Without a place for notes files are written all the same. */
function note(folder: string): void {
  try {
    ledger ??= openLedger();
    if (ledger !== "none") appendFileSync(ledger, `${JSON.stringify(folder)}\n`, { mode: 0o600 });
  } catch {
    ledger = "none";
  }
}

function openLedger(): string | "none" {
  const place = ledgerFolder();
  mkdirSync(place, { recursive: true, mode: 0o700 });
  const stats = lstatSync(place);
  // In a folder of somebody else the notes could name anything.
  if (!stats.isDirectory() || stats.uid !== (process.getuid?.() ?? stats.uid)) return "none";
  const own = join(place, `${processes()}-${process.pid}-${TAG}`);
  process.once("exit", () => rmSync(own, { force: true }));
  void removeLeftovers(place).catch(() => undefined);
  return own;
}

function ledgerFolder(): string {
  return join(tmpdir(), `hermes-writes-${process.getuid?.() ?? 0}`);
}

/** Process numbers mean something only among those who share them: not in another container. */
function processes(): string {
  try {
    return readlinkSync("/proc/self/ns/pid").replace(/\D/g, "");
  } catch {
    return "0";
  }
}

const ENTRY = /^(\d+)-(\d+)-([0-9a-f]{6})$/;

async function removeLeftovers(place: string): Promise<void> {
  for (const name of await fs.readdir(place)) {
    const [, space, pid, tag = ""] = ENTRY.exec(name) ?? [];
    if (space !== processes() || isAlive(Number(pid))) continue;
    const text = await fs.readFile(join(place, name), "utf8").catch(() => "");
    for (const line of text.split("\n")) await removeTemporary(folderOf(line), tag);
    await fs.rm(join(place, name), { force: true });
  }
}

/** A note that was cut off when its process died names nothing. */
function folderOf(line: string): string | undefined {
  try {
    const folder: unknown = JSON.parse(line);
    return typeof folder === "string" ? folder : undefined;
  } catch {
    return undefined;
  }
}

async function removeTemporary(folder: string | undefined, tag: string): Promise<void> {
  if (folder === undefined) return;
  for (const name of await fs.readdir(folder).catch(() => [])) {
    const isTheirs = name.startsWith(`.hermes-${tag}`) && name.endsWith(".tmp");
    if (isTheirs) await fs.rm(join(folder, name), { force: true }).catch(() => undefined);
  }
}
