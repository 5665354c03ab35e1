// npm start: makes the clone ready, then runs `hermes serve` with whatever follows `npm start --`.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureReady, root, withoutNpm } from "./ensure.mjs";

try {
  await ensureReady({ types: false });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}

const clean = withoutNpm(process.env);
for (const name of Object.keys(process.env)) if (!(name in clean)) delete process.env[name];
process.env.PATH = clean.PATH;

// In this process, so that signals and the exit code are the server's own.
const main = join(root, "dist", "cli", "main.js");
process.argv.splice(1, 1, main, "serve");
await import(pathToFileURL(main).href);
