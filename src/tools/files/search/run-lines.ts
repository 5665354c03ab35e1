import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";

/** A record longer than this (a matching line of many megabytes) is counted and dropped. */
const MAX_RECORD_CHARS = 8 * 1024 * 1024;
export const SEARCH_TIMEOUT_MS = 60_000;

export interface LineRun {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly separator: "\n" | "\0";
  readonly stdin?: string;
  readonly ctx: CallContext;
  /** Return false to end the program early. */
  onRecord(record: string): boolean;
}

export interface LineRunResult {
  readonly exitCode: number;
  readonly stderr: string;
  readonly stopped: boolean;
  readonly timedOut: boolean;
  readonly oversizedRecords: number;
}

/** Runs a program and hands over its output record by record, holding no more than one of them. */
export async function runLines(run: LineRun): Promise<LineRunResult> {
  const { ctx } = run;
  const stop = new AbortController();
  let partial: string[] = [];
  let partialLength = 0;
  let skipping = false;
  let oversizedRecords = 0;

  const finishRecord = (rest: string): void => {
    if (skipping) skipping = false;
    else if (!run.onRecord(partial.length === 0 ? rest : partial.join("") + rest)) stop.abort();
    partial = [];
    partialLength = 0;
  };
  const take = (chunk: string): void => {
    let position = 0;
    while (!stop.signal.aborted) {
      const end = chunk.indexOf(run.separator, position);
      if (end === -1) break;
      finishRecord(chunk.slice(position, end));
      position = end + 1;
    }
    const rest = chunk.slice(position);
    if (rest === "" || skipping) return;
    partial.push(rest);
    partialLength += rest.length;
    if (partialLength > MAX_RECORD_CHARS) {
      skipping = true;
      oversizedRecords++;
      partial = [];
      partialLength = 0;
    }
  };

  const result = await ctx.environment.exec({
    command: run.command,
    cwd: run.cwd,
    timeoutMs: SEARCH_TIMEOUT_MS,
    signal: AbortSignal.any([ctx.signal, stop.signal]),
    separateStderr: true,
    stdin: run.stdin,
    sandbox: { read: [run.cwd] },
    maxOutputChars: 8000,
    onChunk: (chunk) => {
      if (!stop.signal.aborted) take(chunk);
    },
  });
  ctx.signal.throwIfAborted();
  if (partialLength > 0 && !stop.signal.aborted) finishRecord("");
  return {
    exitCode: result.exitCode,
    stderr: result.stderr,
    stopped: stop.signal.aborted,
    timedOut: result.timedOut,
    oversizedRecords,
  };
}

/** What a shell answers for a program it cannot find or start. */
export function isNotRunnable(result: { readonly exitCode: number }): boolean {
  return result.exitCode === 126 || result.exitCode === 127;
}

export function patternError(pattern: string, stderr: string): ToolError {
  const why = stderr
    .replace(/^(rg|grep): /gm, "")
    .trim()
    .slice(0, 600);
  return new ToolError(`The pattern ${JSON.stringify(pattern)} is not a valid regular expression: ${why}`, {
    code: "invalid_arguments",
    hint: "Put a backslash before characters that are meant literally: ( ) [ ] { } . * + ? | ^ $ \\",
  });
}
