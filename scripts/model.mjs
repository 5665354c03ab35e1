// Fetches the model that finds tools by meaning, when it is not there yet (`hermes setup search`).
//   node scripts/model.mjs            fails when it cannot be had
//   ensureModel({ required: false })  goes on without it: tools are then found by words alone
//   ensureModel({ what: "speech", required: false })  the same for those that speak and listen
// Needs the build, which it makes when there is none.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { root, runToEnd } from "./ensure.mjs";

export async function ensureModel({ what = "search", required }) {
  const main = join(root, "dist", "cli", "main.js");
  if (!existsSync(main)) {
    const { build } = await import("./build.mjs");
    await build({ root, types: false });
  }
  const hermes = (args, options) => runToEnd(process.execPath, [main, ...args], options);
  if ((await hermes(["setup", what, "--check"], { stdio: "ignore" })) === 0) return true;
  // stdout belongs to whoever called the script.
  const status = await hermes(["setup", what], { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0 && required) throw new Error(`The model for ${what} cannot be fetched.`);
  return status === 0;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    await ensureModel({ required: true });
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
