import { setTimeout as delay } from "node:timers/promises";
import { text as textContent } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import type { CallContext, Kept } from "../../tool/tool.js";
import { findClipboard, type MachineClipboard } from "./clipboard/find-clipboard.js";
import { runDesktopProgram } from "./desktop-program.js";

const TIMEOUT_MS = 10_000;
const LOOKS = 40;
const LOOK_AGAIN_MS = 25;
const BLIND_WAIT_MS = 200;
const UNNAMED = "clipboard";
const SESSION = "session";

type Action = "read" | "write" | "clear";

interface ClipboardAnswer {
  readonly success: true;
  readonly status: "success";
  readonly action: Action;
  /** Only of read: whoever writes knows the text. */
  readonly text?: string | undefined;
  readonly length: number;
  readonly backend: string;
  readonly name?: string | undefined;
  readonly note?: string | undefined;
}

export default defineTool({
  name: "clipboard",
  toolset: "clipboard",
  emoji: "📋",
  description:
    "Read, write or clear the clipboard of the person's desktop; with a name (and where there is no desktop) one " +
    "of this session.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["read", "write", "clear"] },
      text: { type: "string" },
      name: { type: "string", minLength: 1, maxLength: 100 },
    },
    required: ["action"],
    additionalProperties: false,
  },
  permissions: ["clipboard:read", "clipboard:write"],
  effects: ({ action, name }) => [
    {
      action: action === "read" ? "clipboard:read" : "clipboard:write",
      resource: name === undefined ? "desktop" : `session/${name}`,
      mode: action === "read" ? "read" : "write",
    },
  ],
  timeoutMs: TIMEOUT_MS + 5_000,

  async handler({ action, text, name }, ctx): Promise<ClipboardAnswer> {
    const given = action === "write" ? textToWrite(text) : "";
    const answer = { success: true, status: "success", action } as const;
    const machine =
      name === undefined ? findClipboard({ platform: process.platform, env: process.env }) : undefined;
    const used = machine && (await useMachine(machine, { action, text: given, ctx }));
    if (machine !== undefined && used?.text !== undefined) {
      return {
        ...answer,
        text: action === "read" ? used.text : undefined,
        length: used.text.length,
        backend: machine.backend,
      };
    }
    const note = used?.problem ?? (name === undefined ? NO_DESKTOP : undefined);
    const kept = useSession(ctx.keep(SessionClipboards), { action, text: given, name });
    return {
      ...answer,
      text: action === "read" ? kept : undefined,
      length: kept.length,
      backend: SESSION,
      name,
      note,
    };
  },

  present: (out) => ({ model: [textContent(JSON.stringify(out))], human: humanText(out) }),

  examples: [
    {
      title: "Hand a text from one step to another",
      before: [
        { name: "clipboard", arguments: { action: "write", name: "summary", text: "Three tests fail." } },
      ],
      arguments: { action: "read", name: "summary" },
      result: { text: "Three tests fail.", length: 17, backend: "session" },
    },
  ],
});

const NO_DESKTOP = "This machine has no desktop clipboard; the text is kept for this session only.";

function textToWrite(text: string | undefined): string {
  if (text !== undefined) return text;
  throw new ToolError("The action write needs text.", {
    code: "invalid_arguments",
    hint: "Call again with text, or with action clear.",
  });
}

interface Use {
  readonly action: Action;
  readonly text: string;
}

/** The text that is in it now, or why it could not be used. */
async function useMachine(
  machine: MachineClipboard,
  { action, text, ctx }: Use & { readonly ctx: CallContext },
): Promise<{ readonly text?: string; readonly problem?: string }> {
  const program =
    action === "read"
      ? machine.read
      : action === "clear" || text === ""
        ? machine.clear
        : machine.write(text);
  const answer = await runDesktopProgram(program, { signal: ctx.signal, timeoutMs: TIMEOUT_MS });
  if (ctx.signal.aborted) throw new ToolError("Cancelled.", { code: "cancelled" });
  if (answer.ok) {
    if (action !== "read" && machine.lookUpTo !== undefined) await untilThere(machine, { text, ctx });
    return { text: action === "read" ? answer.output : text };
  }
  if (action === "read" && machine.emptyComplaint?.test(answer.problem) === true) return { text: "" };
  const why = answer.problem === "" ? "" : ` (${answer.problem})`;
  return {
    problem: `The desktop's clipboard did not answer${why}; the text is kept for this session only.`,
  };
}

async function untilThere(
  machine: MachineClipboard,
  { text, ctx }: { readonly text: string; readonly ctx: CallContext },
): Promise<void> {
  if (Buffer.byteLength(text) > (machine.lookUpTo ?? 0)) {
    await delay(BLIND_WAIT_MS);
    return;
  }
  for (let tries = 0; tries < LOOKS && !ctx.signal.aborted; tries += 1) {
    const { output } = await runDesktopProgram(machine.read, { signal: ctx.signal, timeoutMs: TIMEOUT_MS });
    if (output === text) return;
    await delay(LOOK_AGAIN_MS);
  }
}

function useSession(
  clipboards: SessionClipboards,
  { action, text, name }: Use & { readonly name: string | undefined },
): string {
  const key = name ?? UNNAMED;
  if (action === "write") clipboards.write(key, text);
  if (action === "clear") clipboards.clear(key);
  const held = clipboards.read(key);
  if (held !== undefined || action !== "read" || name === undefined) return held ?? "";
  const { names } = clipboards;
  throw new ToolError(`This session has no clipboard named ${name}.`, {
    code: "not_found",
    hint: names.length === 0 ? "Write one first." : `There are: ${names.slice(0, 10).join(", ")}.`,
  });
}

function humanText(out: ClipboardAnswer): string {
  const where = mark.dim(`(${out.name === undefined ? out.backend : `${out.backend}: ${out.name}`})`);
  const done = {
    read: out.length === 0 ? `the clipboard is empty ${where}` : `${out.text}\n${where}`,
    write: `${out.length} characters copied ${where}`,
    clear: `cleared ${where}`,
  }[out.action];
  return out.note === undefined ? done : `${done}\n${mark.warning(out.note)}`;
}

const MAX_NAMES = 100;
const MAX_CHARS = 16 * 1024 * 1024;

/** Clipboards by name that live as long as their session, for handing text from one tool to another. */
class SessionClipboards implements Kept {
  readonly #texts = new Map<string, string>();

  read(name: string): string | undefined {
    return this.#texts.get(name);
  }

  write(name: string, text: string): void {
    let chars = text.length;
    for (const [other, held] of this.#texts) if (other !== name) chars += held.length;
    if (chars > MAX_CHARS || (this.#texts.size >= MAX_NAMES && !this.#texts.has(name))) {
      throw new ToolError(
        `The clipboards of a session hold at most ${MAX_NAMES} names and ${MAX_CHARS} characters.`,
        { code: "over_budget", hint: "Clear one that is not needed any more, or write a file." },
      );
    }
    this.#texts.set(name, text);
  }

  clear(name: string): void {
    this.#texts.delete(name);
  }

  get names(): readonly string[] {
    return [...this.#texts.keys()].sort();
  }

  close(): void {
    this.#texts.clear();
  }
}
