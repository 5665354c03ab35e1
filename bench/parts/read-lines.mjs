// 200 lines at line 900,000 of a 100 MB file: read_file against plain 1 MiB reads that count newlines.
import { closeSync, mkdtempSync, openSync, rmSync, utimesSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { ratios, summary } from "../statistics.mjs";

const LINE_BYTES = 100;
const LINES = 200;
const PIECE_LINES = 10_000;

export async function measureReadLines({ dist, effort }) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  try {
    const file = join(folder, "deep.log");
    const total = Math.floor(effort.outputBytes / LINE_BYTES);
    writeLines(file, total);
    const options = { file, offset: Math.floor(total * 0.9), limit: LINES };
    return await withSubjects(async ({ start }) => {
      const bare = await start("read-lines", options);
      const tool = await start("read-lines", { ...options, dist });
      const samples = await takeTurns(
        {
          "bare-read": { subject: bare, operation: "bare" },
          "read-file": { subject: tool, operation: "fresh" },
          "read-file-again": { subject: tool, operation: "again" },
        },
        effort,
      );
      return {
        milliseconds: Object.fromEntries(
          Object.entries(samples).map(([id, values]) => [id, summary(values.map((value) => value / 1e6))]),
        ),
        ratios: {
          ...ratios(samples, "read-file", ["bare-read"]),
          ...ratios(samples, "read-file-again", ["bare-read"]),
        },
      };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function writeLines(path, total) {
  const file = openSync(path, "w");
  for (let first = 1; first <= total; first += PIECE_LINES) {
    const count = Math.min(PIECE_LINES, total - first + 1);
    writeSync(file, Array.from({ length: count }, (_, index) => lineOf(first + index)).join(""));
  }
  closeSync(file);
  // A file that was changed just now is not remembered from one page to the next.
  const anHourAgo = new Date(Date.now() - 3_600_000);
  utimesSync(path, anHourAgo, anHourAgo);
}

function lineOf(number) {
  return `${String(number).padStart(9, "0")} ${"x".repeat(LINE_BYTES - 11)}\n`;
}
