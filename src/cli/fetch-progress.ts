import type { FetchProgress } from "../search/semantic/fetch-model.js";
import type { Output } from "./output.js";

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
