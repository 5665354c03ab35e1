import type { RuntimeEvent } from "../observe/events.js";
import type { Runtime } from "../runtime/runtime.js";
import { brief, type Output } from "./output.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const SHOW_AFTER_MS = { terminal: 150, plain: 1_000 };

interface Running {
  readonly label: string;
  readonly startedAt: number;
  shown: boolean;
}

/** A live line per running call on a terminal; elsewhere a plain line for calls that take long. */
export function showProgress(runtime: Runtime, out: Output): () => void {
  if (out.quiet || out.json || out.jsonl) return () => undefined;
  const onTerminal = process.stderr.isTTY === true && !out.ascii;
  const running = new Map<string, Running>();
  let frame = 0;
  const draw = () => {
    frame += 1;
    for (const call of running.values()) {
      const elapsed = performance.now() - call.startedAt;
      if (elapsed < (onTerminal ? SHOW_AFTER_MS.terminal : SHOW_AFTER_MS.plain)) continue;
      if (onTerminal)
        process.stderr.write(
          `\r\x1b[K${FRAMES[frame % FRAMES.length]} ${call.label}  ${(elapsed / 1000).toFixed(1)}s`,
        );
      else if (!call.shown) process.stderr.write(`... ${call.label}\n`);
      call.shown = true;
    }
  };
  const timer = setInterval(draw, 100);
  timer.unref();
  const stop = runtime.events.on((event) => track(event, { runtime, out, running, onTerminal }));
  return () => {
    clearInterval(timer);
    stop();
  };
}

function track(
  event: RuntimeEvent,
  view: {
    readonly runtime: Runtime;
    readonly out: Output;
    readonly running: Map<string, Running>;
    readonly onTerminal: boolean;
  },
): void {
  if (event.type === "call.started") {
    const emoji = view.out.emoji(view.runtime.registry.get(event.name)?.emoji);
    view.running.set(event.id, {
      label: `${emoji}${event.name}  ${brief(firstArgument(event.preview), 50)}`,
      startedAt: performance.now(),
      shown: false,
    });
  }
  if (event.type !== "call.finished") return;
  const call = view.running.get(event.id);
  view.running.delete(event.id);
  if (call?.shown !== true) return;
  const clear = view.onTerminal ? "\r\x1b[K" : "";
  process.stderr.write(
    `${clear}${view.out.mark(event.ok ? "ok" : "error")} ${call.label}  ${(event.duration_ms / 1000).toFixed(1)}s\n`,
  );
}

function firstArgument(preview: string): string {
  return /^\{"[^"]*":"?([^"]*)/.exec(preview)?.[1] ?? "";
}
