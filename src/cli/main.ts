import { isOldNode, OLDEST_NODE } from "../base/node-version.js";
import { VERSION } from "../version.js";
import { ChunkLoader } from "./chunk-loader.js";

const argv = process.argv.slice(2);

// The commonest question of scripts is answered before anything else is loaded.
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) process.stdout.write(`${VERSION}\n`);
else if (isOldNode() && argv[0] !== "doctor") {
  // Whatever is loaded first would fail with words about itself.
  const message = `Node ${process.versions.node} is too old for hermes-tools`;
  const hint = `Install Node ${OLDEST_NODE} or newer.`;
  const asked = argv.includes("--json") || argv.includes("--jsonl");
  const said = JSON.stringify({ error: { code: "unavailable", message, hint } });
  process.stderr.write(asked ? `${said}\n` : `error: ${message}\n${hint}\n`);
  process.exitCode = 4;
} else {
  const importModule = (specifier: string, options?: ImportCallOptions) => import(specifier, options);
  new ChunkLoader({ dist: __dirname, require, importModule, argv }).load("start.js");
}
