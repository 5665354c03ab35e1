import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CallContext } from "../../tool/tool.js";
import { locate } from "../files/paths.js";
import type { Picture } from "./pictures.js";

const KEPT_MS = 24 * 3_600_000;

/** Where the caller wants it, in the session's environment; else in a folder of its own, for a day. */
export async function writePicture(
  { bytes, mimeType }: Picture,
  { path, ctx }: { readonly path?: string | undefined; readonly ctx: CallContext },
): Promise<string> {
  if (path !== undefined) {
    const place = await locate(path, ctx);
    await ctx.environment.files.write(place.real, bytes);
    return place.path;
  }
  const folder = join(ctx.cacheDir, "screenshots");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await removeOld(folder);
  const file = join(folder, `${randomBytes(8).toString("hex")}.${mimeType === "image/png" ? "png" : "jpg"}`);
  await writeFile(file, bytes, { mode: 0o600 });
  return file;
}

async function removeOld(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      const found = await stat(file).catch(() => undefined);
      if (found !== undefined && Date.now() - found.mtimeMs > KEPT_MS) await rm(file, { force: true });
    }),
  );
}
