// Builds the dashboard from web/ into dist/web, with each file once more as .br and .gz.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { noticesOf, THIRD_PARTY } from "./third-party.mjs";

const brotli = promisify(brotliCompress);
const zip = promisify(gzip);

const COMPRESSED = /\.(?:js|css|html|svg|json)$/;
/** Smaller files fit in one packet anyway. */
const WORTH_COMPRESSING = 1_024;

/** Changes with everything the dashboard is made of. */
export async function webHash(root) {
  const hash = createHash("sha256");
  const files = existsSync(join(root, "web")) ? await filesIn(join(root, "web")) : [];
  const inputs = files.map((file) => `web/${file}`).filter((file) => !file.endsWith(".md"));
  for (const file of [
    ...inputs.sort(),
    "package-lock.json",
    "scripts/build-web.mjs",
    "scripts/third-party.mjs",
  ]) {
    const content = await readFile(join(root, file)).catch(() => "");
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

/** Returns how many files there are; none where there is no web/. */
export async function buildWeb(root) {
  if (!existsSync(join(root, "web", "index.html"))) return 0;
  const { build } = await import("vite");
  const staging = join(root, "dist", `.staging-web-${process.pid}`);
  const target = join(root, "dist", "web");
  try {
    const { output } = await build({
      configFile: join(root, "web", "vite.config.mjs"),
      root: join(root, "web"),
      logLevel: "warn",
      build: { outDir: staging },
    });
    const modules = output.flatMap(({ moduleIds = [] }) => moduleIds);
    await writeFile(join(staging, THIRD_PARTY), await noticesOf(modules));
    await Promise.all((await filesIn(staging)).map((file) => compress(join(staging, file))));
    const names = await filesIn(staging);
    // The page last: whoever loads it meanwhile finds every file it names.
    for (const name of names.sort((a, b) => Number(isPage(a)) - Number(isPage(b)))) {
      await mkdir(dirname(join(target, name)), { recursive: true });
      await rename(join(staging, name), join(target, name));
    }
    const current = new Set(names);
    for (const name of await filesIn(target)) if (!current.has(name)) await rm(join(target, name));
    return names.length;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

const isPage = (name) => name.startsWith("index.html");

async function compress(file) {
  if (!COMPRESSED.test(file)) return;
  const content = await readFile(file);
  if (content.length < WORTH_COMPRESSING) return;
  const [br, gz] = await Promise.all([
    brotli(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
    zip(content, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${file}.br`, br), writeFile(`${file}.gz`, gz)]);
}

async function filesIn(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      relative(folder, join(entry.parentPath ?? entry.path, entry.name))
        .split(sep)
        .join("/"),
    );
}
