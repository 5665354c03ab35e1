// 100 MB of output: only counted by plain node, kept as head and tail by the environment.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { ratios, summary } from "../statistics.mjs";

/** What programs print, and the same with a sign in it that is not ASCII, as test runners like them. */
const LINES = {
  ascii: "ok 4711 - the quick brown fox jumps over the lazy dog (12 ms)\n",
  unicode: "✓ 4711 – the quick brown fox jumps over the lazy dog (12 ms)\n",
};

export async function measureOutput({ dist, effort }) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  try {
    const files = Object.fromEntries(
      Object.entries(LINES).map(([kind, line]) => {
        const file = join(folder, kind);
        writeFileSync(file, line.repeat(Math.ceil(effort.outputBytes / Buffer.byteLength(line))));
        return [kind, file];
      }),
    );
    return await withSubjects(async ({ start }) => {
      const contestants = {};
      for (const [kind, file] of Object.entries(files)) {
        contestants[`bare-reader-${kind}`] = {
          subject: await start("bare-terminal", { file }),
          operation: "output",
        };
        contestants[`environment-output-${kind}`] = {
          subject: await start("environment", { dist, file }),
          operation: "output",
        };
      }
      const samples = await takeTurns(contestants, effort);
      return {
        milliseconds: Object.fromEntries(
          Object.entries(samples).map(([id, values]) => [id, summary(values.map((value) => value / 1e6))]),
        ),
        ratios: {
          ...ratios(samples, "environment-output-ascii", ["bare-reader-ascii"]),
          ...ratios(samples, "environment-output-unicode", ["bare-reader-unicode"]),
        },
      };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
