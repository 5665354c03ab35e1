import { readFile, stat } from "node:fs/promises";
import { posix } from "node:path";
import type { Download } from "playwright-core";
import { messageOf } from "../../base/errno.js";
import type { CallContext } from "../../tool/tool.js";
import type { Tab } from "./tab.js";

/** The file is held once while it is put into the workspace. */
const MAX_BYTES = 100 * 1024 * 1024;
const FOLDER = "downloads";
const MOST_NAMES = 1_000;

export interface SavedDownload {
  readonly path: string;
  readonly bytes: number;
  readonly url: string;
}

/** Puts what the page has sent into the folder `downloads` of the workspace; what may not be there is told in the notes. */
export async function saveDownloads(tab: Tab, ctx: CallContext): Promise<readonly SavedDownload[]> {
  const saved: SavedDownload[] = [];
  for (const download of tab.downloads.splice(0)) {
    const name = safeName(download.suggestedFilename());
    try {
      const file = await save(download, name, ctx);
      if (typeof file === "string") tab.notes.push(`download of ${name} not kept: ${file}`);
      else saved.push(file);
    } catch (error) {
      tab.notes.push(`download of ${name} failed: ${messageOf(error).slice(0, 200)}`);
    }
    await download.delete().catch(() => undefined);
  }
  return saved;
}

/** The file, or why there is none. */
async function save(download: Download, name: string, ctx: CallContext): Promise<SavedDownload | string> {
  ctx.progress({ message: `downloading ${name}` });
  const cancel = () => void download.cancel().catch(() => undefined);
  ctx.signal.addEventListener("abort", cancel, { once: true });
  const source = await download.path().finally(() => ctx.signal.removeEventListener("abort", cancel));
  const { size } = await stat(source);
  if (size > MAX_BYTES) return `it has ${Math.round(size / 1_000_000)} MB, more than are kept`;
  const { files } = ctx.environment;
  const path = await freePath(name, ctx);
  const refused = ctx.refusal({ action: "file:write", resource: path, mode: "write" });
  if (refused !== undefined) return refused;
  // Must not exist: a page does not overwrite anybody's file.
  await files.write(path, await readFile(source), { expected: { sha256: undefined } });
  return { path, bytes: size, url: download.url().slice(0, 500) };
}

async function freePath(name: string, { environment: { files }, session }: CallContext): Promise<string> {
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  for (let count = 0; count < MOST_NAMES; count += 1) {
    const tried = count === 0 ? name : `${stem} (${count})${ending}`;
    const path = await files.realpath(files.resolve(posix.join(FOLDER, tried), session.workspace));
    if ((await files.stat(path)) === undefined) return path;
  }
  throw new Error(`there are ${MOST_NAMES} files of that name`);
}

/** A name of one file in this folder, whatever the server suggests. */
function safeName(suggested: string): string {
  const name = suggested
    .replace(/[\u0000-\u001f\u007f<>:"/\\|?*]/g, "_")
    .replace(/^[.\s]+|[.\s]+$/g, "")
    .slice(0, 150);
  return name === "" ? "download" : name;
}
