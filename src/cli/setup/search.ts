import { fetchModel } from "../../search/semantic/fetch-model.js";
import { findModel, wantedPackages } from "../../search/semantic/model-files.js";
import { damagedFiles, type FetchProgress } from "../../weights/fetch-weights.js";
import { folderToFill, weightsFolders } from "../../weights/folders.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import type { Output } from "../output.js";

/** Fetches the model that finds tools by meaning. */
export async function setupSearch(context: CommandContext): Promise<void> {
  const { out, options } = context;
  if (options.check === true) return check(context);
  // For the proxy.
  await context.config();
  const folder = folderToFill(context);
  const progress = showFetching(out);
  const report = await fetchModel({ folder, onProgress: progress.show }).finally(progress.stop);
  const { length } = report.fetched;
  const text =
    length === 0
      ? `the model is in ${folder}, every file as it should be`
      : `${length} files fetched and checked: ${folder}`;
  out.result({ ready: true, ...report }, `${out.mark("ok")} ${text}`);
}

async function check({ home, out }: CommandContext): Promise<void> {
  const found = findModel({ home });
  if (found === undefined)
    throw commandError(
      "unavailable",
      `no model in ${weightsFolders({ home }).join(" or ")}`,
      "Run `hermes setup search`; until then tools are found by words alone.",
    );
  const folder = weightsFolders({ home }).find((path) => found.model.startsWith(path)) ?? "";
  const wrong = await damagedFiles(folder, wantedPackages() ?? []);
  if (wrong.length > 0)
    throw commandError(
      "unavailable",
      `damaged in ${folder}: ${wrong.join(", ")}`,
      "Run `hermes setup search`.",
    );
  out.result(
    { ready: true, folder },
    `${out.mark("ok")} the model is in ${folder}, every file as it should be`,
  );
}

const MEGABYTE = 1_000_000;
const PLAIN_STEP = 25;

/** How far a download is, on stderr: one moving line on a terminal, a line per quarter elsewhere. */
export function showFetching(out: Output): {
  show(progress: FetchProgress): void;
  stop(): void;
} {
  const live = process.stderr.isTTY === true && process.env.CI === undefined && !out.ascii;
  let said = "";
  let open = false;
  return {
    show({ package: name, received, total }) {
      if (out.quiet) return;
      const percent = Math.min(100, Math.floor((received / total) * 100));
      const text = `fetching ${name}  ${(received / MEGABYTE).toFixed(0)} of ${(total / MEGABYTE).toFixed(0)} MB`;
      const step = live ? text : `${name} ${Math.floor(percent / PLAIN_STEP)}`;
      if (step === said) return;
      said = step;
      open = live;
      process.stderr.write(live ? `\r\x1b[K${text}` : `${text}\n`);
    },
    stop() {
      if (open) process.stderr.write("\r\x1b[K");
    },
  };
}
