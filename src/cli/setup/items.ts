import type { SetupItem } from "../../runtime/packages/install.js";
import type { CommandContext } from "../context.js";
import { EXIT } from "../errors.js";

/** What a set-up command found or brought: a list for people, `{ ok, items }` for programs. */
export function reportItems({ out, options }: CommandContext, items: readonly SetupItem[]): void {
  const ok = items.every(({ state }) => state === "present" || state === "installed");
  if (out.json) {
    out.value({
      ok,
      items: items.map(({ what, state, fix, detail }) => ({ what, state, fix: fix ?? null, detail })),
    });
  } else {
    for (const { what, state, fix, detail } of items) {
      const good = state === "present" || state === "installed";
      const more = [detail, good || fix === undefined ? undefined : `→ ${fix}`].filter(Boolean).join("  ");
      out.line(`${out.mark(good ? "ok" : "error")} ${what}  ${out.color.dim(`${state}  ${more}`.trim())}`);
    }
  }
  if (!ok) process.exitCode = options.check === true ? EXIT.unavailable : EXIT.toolError;
}
