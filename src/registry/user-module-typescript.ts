import { createRequire } from "node:module";
import type ts from "typescript6";

export type TypeScript = typeof ts;

const require = createRequire(import.meta.url);

/** Loaded on demand: it costs about 300 ms. `require`, because `import` would also scan 9 MB for export names. */
export function loadTypeScript(): TypeScript {
  return require("typescript6") as TypeScript;
}

/** Absolute path, for threads that cannot resolve the package themselves. */
export function typeScriptPath(): string {
  return require.resolve("typescript6");
}
