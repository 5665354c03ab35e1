// Holds the licences of every package in the lock file against a list: development ones too, since some are bundled.
//   node scripts/licences.mjs
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./ensure.mjs";

const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "Python-2.0",
  "Unlicense",
  "Zlib",
  "MPL-2.0",
  "LGPL-3.0-or-later",
]);
const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
const counts = new Map();
const refused = [];
for (const [path, { license, dev, link }] of Object.entries(packages)) {
  if (path === "" || link === true) continue;
  // The lock file knows none for builds of other platforms and some old test tools; they are counted, not judged.
  const unstated = license === undefined && dev === true;
  counts.set(license, (counts.get(license) ?? 0) + 1);
  const choices = String(license).replaceAll(/[()]/g, "").split(" OR ");
  if (!unstated && !choices.some((one) => one.split(" AND ").every((part) => ALLOWED.has(part))))
    refused.push(`${path}: ${license}`);
}
console.log(
  [...counts].map(([licence, count]) => `${licence ?? "not stated, development only"} ${count}`).join(", "),
);
for (const line of refused) console.error(`not on the list: ${line}`);
process.exitCode = refused.length > 0 ? 1 : 0;
