import { VERSION } from "../version.js";
import { ChunkLoader } from "./chunk-loader.js";

const argv = process.argv.slice(2);

// The commonest question of scripts is answered before anything else is loaded.
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) process.stdout.write(`${VERSION}\n`);
else {
  const importModule = (specifier: string, options?: ImportCallOptions) => import(specifier, options);
  new ChunkLoader({ dist: __dirname, require, importModule, argv }).load("start.js");
}
