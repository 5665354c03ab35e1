// What is built into the package of others, and under which licence: their texts must go wherever their code goes.
import { readdir, readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import { root } from "./ensure.mjs";

/** Written beside what is built, one part for each package; `npm run sbom` reads the headings. */
export const THIRD_PARTY = "THIRD-PARTY.txt";

/** The text for the packages that these modules come from. */
export async function noticesOf(moduleIds) {
  const folders = new Set(moduleIds.flatMap((id) => packageFolder(id) ?? []));
  const parts = await Promise.all([...folders].map(noticeOf));
  return [...new Set(parts)].sort().join("\n");
}

/** `name@version` of everything that is built in. */
export async function builtIn() {
  const texts = await Promise.all(
    ["dist", "dist/web"].map((folder) => readFile(join(root, folder, THIRD_PARTY), "utf8")),
  );
  return new Set([...texts.join("\n").matchAll(/^=== (\S+) /gm)].map(([, name]) => name));
}

function packageFolder(id) {
  const path = id.replace(/^\0/, "").split("?")[0].split(sep).join("/");
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0];
}

async function noticeOf(folder) {
  const { name, version, license, author, repository } = JSON.parse(
    await readFile(join(folder, "package.json"), "utf8"),
  );
  const file = (await readdir(folder)).find((one) => /^(?:licen[cs]e|copying)(?:[.-]|$)/i.test(one));
  const whose = `It comes without a licence text. (c) ${author?.name ?? author ?? "its authors"}, ${repository?.url ?? repository}`;
  const text = file === undefined ? whose : await readFile(join(folder, file), "utf8");
  return `=== ${name}@${version} (${license ?? "see below"})\n\n${text.trim()}\n`;
}
