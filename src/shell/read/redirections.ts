import type { Context, PlacedRedirect } from "./context.js";
import { madeFile, writeFile } from "./made-files.js";
import type { HereDoc, Redirection, Word } from "./parse.js";
import type { Value } from "./state.js";
import { Output, type Stream } from "./stream.js";
import { expandSingle, expandText, textOf } from "./words.js";

/** The files a command opens, and what flows through them. */
export interface OpenedFiles {
  readonly redirects: readonly PlacedRedirect[];
  readonly input: Stream;
  readonly out: Output | undefined;
  /** Remembers what was written, once the command has run. */
  settle(): void;
}

const KINDS = {
  "<": "read",
  ">": "write",
  ">|": "write",
  ">&": "write",
  "&>": "write",
  ">>": "append",
  "&>>": "append",
  "<>": "both",
} as const;

const NOTHING_TO_SETTLE = (): void => {};

export function sameFiles({ input, out }: Context): OpenedFiles {
  return { redirects: [], input, out, settle: NOTHING_TO_SETTLE };
}

export function readRedirections(redirections: readonly Redirection[], context: Context): OpenedFiles {
  const redirects: PlacedRedirect[] = [];
  let { input, out } = context;
  const written: { readonly path: string; readonly output: Output; readonly append: boolean }[] = [];
  for (const redirection of redirections) {
    const descriptor =
      redirection.descriptor?.type === "FileDescriptor" ? redirection.descriptor.value : undefined;
    if (redirection.type !== "Redirect") {
      const text =
        redirection.type === "HereDoc"
          ? hereDocument(redirection, context)
          : hereString(redirection.target, context);
      const stream: Stream = { kind: "text", text: text.text, from: text.outputs ?? [] };
      if (descriptor === undefined || descriptor === 0) input = stream;
      else
        context.state.files.set(`/dev/fd/${descriptor}`, {
          content: stream,
          foreign: false,
          executable: false,
        });
      continue;
    }
    if (redirection.target === undefined) continue;
    const target = expandSingle(redirection.target, context);
    if (redirection.operator === "<&") {
      const stream = context.state.files.get(`/dev/fd/${target.text.replace(/-$/, "")}`)?.content;
      if (stream !== undefined && (descriptor === undefined || descriptor === 0)) input = stream;
      continue;
    }
    if (redirection.operator === ">&" && /^(?:\d+-?|-)$/.test(target.text)) continue;
    const kind = KINDS[redirection.operator];
    const standardOutput = kind !== "read" && (descriptor === undefined || descriptor === 1);
    redirects.push({ kind, target, standardOutput });
    if (kind === "read" && (descriptor === undefined || descriptor === 0)) {
      input = madeFile(context.state, target.text)?.content ?? { kind: "file", path: target };
    } else if (kind === "read") {
      const content = madeFile(context.state, target.text)?.content ?? { kind: "file", path: target };
      context.state.files.set(`/dev/fd/${descriptor}`, { content, foreign: false, executable: false });
    } else if (standardOutput) {
      out = new Output();
      written.push({ path: target.text, output: out, append: kind === "append" });
    }
  }
  const settle = (): void => {
    for (const { path, output, append } of written)
      writeFile(context.state, path, { content: output.stream(), append, certain: context.certain });
  };
  return { redirects, input, out, settle };
}

function hereString(target: Word | undefined, context: Context): Value {
  if (target === undefined) return { text: "" };
  const value = expandText(target, context);
  return { ...value, text: `${value.text}\n` };
}

function hereDocument(document: HereDoc, context: Context): Value {
  const { body, delimiter } = document;
  const raw = delimiter?.quoted === true ? { text: body.text } : unquotedBody(document, context);
  return document.operator === "<<-" ? { ...raw, text: raw.text.replace(/^\t+/gm, "") } : raw;
}

function unquotedBody({ body }: HereDoc, context: Context): Value {
  if (body.parts !== undefined) return textOf(body.parts, context);
  return { text: body.text.replace(/\\([\\$`\n])/g, (_whole, next: string) => (next === "\n" ? "" : next)) };
}
