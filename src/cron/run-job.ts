import { readFile, realpath, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { isBelow } from "../base/path.js";
import type { CallResult } from "../tool/call.js";
import { textOf } from "../tool/content.js";
import { ToolError } from "../tool/errors.js";
import { describeThrown } from "../tool/thrown.js";
import type { Job, JobRun } from "./types.js";

/** What a run needs of a session of the door "cron". */
export interface JobSession {
  has(tool: string): boolean;
  /** Through the whole path; never rejects. */
  call(
    request: { readonly name: string; readonly arguments: unknown },
    options: { readonly signal: AbortSignal },
  ): Promise<CallResult>;
  close(): void;
}

/** What an agent gets for a prompt. */
export interface PromptRequest {
  readonly job: Job;
  readonly prompt: string;
  /** Last outputs of the jobs named in `contextFrom`, and what the job's own script has just put out. */
  readonly context: readonly { readonly from: string; readonly text: string }[];
  readonly session: JobSession;
  readonly signal: AbortSignal;
  /** To be told when it begins and ends to wait for a person. */
  onWaiting(waiting: boolean): void;
}

export interface WorkOutcome {
  readonly status: "ok" | "failed" | "waiting";
  readonly summary: string;
  readonly output: string;
}

export interface WorkParts {
  readonly scriptsDir: string;
  /** Seconds that a script may take. */
  readonly scriptTimeoutS: number;
  openSession(job: Job): Promise<JobSession>;
  runPrompt?(request: PromptRequest): Promise<{ readonly ok: boolean; readonly output: string }>;
  /** The newest run of a job with an output. */
  lastOutput(jobId: string): JobRun | undefined;
  onWaiting?(waiting: boolean): void;
}

const SUMMARY_CHARS = 300;
const CONTEXT_CHARS = 20_000;
const MESSAGE_CHARS = 20_000;

/** Does what a job is there for. Never rejects. */
export async function runJob(
  job: Job,
  parts: WorkParts & { readonly signal: AbortSignal },
): Promise<WorkOutcome> {
  const wantsAgent = job.prompt !== undefined && !job.noAgent;
  if (wantsAgent && parts.runPrompt === undefined) {
    return { status: "waiting", summary: "waiting: no agent", output: "" };
  }
  let session: JobSession | undefined;
  try {
    session = await parts.openSession(job);
    const outcome = await work(job, { ...parts, session });
    return job.deliver === "local"
      ? outcome
      : await delivered(outcome, { job, session, signal: parts.signal });
  } catch (thrown) {
    return failed(sentenceOf(thrown));
  } finally {
    session?.close();
  }
}

type Working = WorkParts & { readonly session: JobSession; readonly signal: AbortSignal };

async function work(job: Job, parts: Working): Promise<WorkOutcome> {
  const { session, signal, runPrompt } = parts;
  if (job.toolCall !== undefined) return outcomeOfCall(await session.call(job.toolCall, { signal }));
  const gathered = job.script === undefined ? undefined : await runScript(job.script, parts);
  if (job.prompt === undefined || job.noAgent || runPrompt === undefined)
    return gathered ?? failed("nothing to do");
  if (gathered?.status === "failed") return gathered;
  const context = await contextOf(job, parts);
  if (gathered !== undefined) context.push({ from: "script", text: gathered.output });
  const onWaiting = (waiting: boolean) => parts.onWaiting?.(waiting);
  const { ok, output } = await runPrompt({ job, prompt: job.prompt, context, session, signal, onWaiting });
  return { status: ok ? "ok" : "failed", summary: gist(output), output };
}

async function runScript(script: string, parts: Working): Promise<WorkOutcome> {
  const { session, signal, scriptsDir, scriptTimeoutS } = parts;
  const command = await scriptCommand(script, scriptsDir);
  const result = await session.call(
    { name: "terminal", arguments: { command, timeout: scriptTimeoutS } },
    { signal },
  );
  const ran = terminalOutput(result.structured);
  if (ran === undefined) return outcomeOfCall(result);
  if (result.ok && ran.exitCode === 0) return { status: "ok", summary: gist(ran.output), output: ran.output };
  const why = ran.error ?? result.error?.message ?? `exit code ${ran.exitCode}`;
  const last = gist(ran.output.trimEnd().split("\n").at(-1) ?? "");
  return {
    status: "failed",
    summary: clipped(last === "" ? why : `${why}: ${last}`),
    output: `${ran.output}\n[${why}]`,
  };
}

function terminalOutput(
  structured: unknown,
):
  | { readonly output: string; readonly exitCode: number | null; readonly error: string | undefined }
  | undefined {
  if (typeof structured !== "object" || structured === null || !("output" in structured)) return undefined;
  const { output, exit_code, error } = structured as Record<string, unknown>;
  if (typeof output !== "string") return undefined;
  return {
    output,
    exitCode: typeof exit_code === "number" ? exit_code : null,
    error: typeof error === "string" ? error : undefined,
  };
}

function outcomeOfCall(result: CallResult): WorkOutcome {
  const output = textOf(result.content);
  if (result.ok) return { status: "ok", summary: gist(output), output: readable(output) };
  const { message = "failed", hint } = result.error ?? {};
  const told = hint === undefined ? message : `${message}. ${hint}`;
  return { status: "failed", summary: clipped(told), output: output === "" ? told : readable(output) };
}

async function contextOf(job: Job, { lastOutput }: WorkParts): Promise<{ from: string; text: string }[]> {
  const context: { from: string; text: string }[] = [];
  for (const from of job.contextFrom) {
    const path = lastOutput(from)?.outputPath;
    const text = path === undefined ? undefined : await readFile(path, "utf8").catch(() => undefined);
    if (text !== undefined) context.push({ from, text: text.slice(0, CONTEXT_CHARS) });
  }
  return context;
}

async function delivered(
  outcome: WorkOutcome,
  { job, session, signal }: { readonly job: Job; readonly session: JobSession; readonly signal: AbortSignal },
): Promise<WorkOutcome> {
  const note = (why: string) => ({
    ...outcome,
    summary: clipped(`${outcome.summary} (not delivered to ${job.deliver}: ${why})`),
  });
  const title = `${job.name}: ${outcome.status === "ok" ? "done" : "failed"}`;
  const call = deliveryCall(outcome, { target: job.deliver, title });
  if (!session.has(call.name)) return note(`the session has no tool ${call.name} that is ready`);
  const sent = await session.call(call, { signal });
  return sent.ok ? outcome : note(sent.error?.message ?? "failed");
}

/** A notice is short; a message holds what the run put out. */
function deliveryCall(
  { summary, output }: WorkOutcome,
  { target, title }: { readonly target: string; readonly title: string },
): { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> } {
  if (target === "notification")
    return { name: "notification", arguments: { title, message: summary === "" ? "no output" : summary } };
  const whole = output.trim() === "" ? "no output" : output.trim();
  const message =
    whole.length <= MESSAGE_CHARS
      ? whole
      : `${whole.slice(0, MESSAGE_CHARS)}\n[cut; the whole output is kept]`;
  return { name: "send_message", arguments: { target, message: `${title}\n\n${message}`, subject: title } };
}

function failed(why: string): WorkOutcome {
  return { status: "failed", summary: clipped(why), output: why };
}

/** What went wrong and what to do about it, whoever threw it. */
function sentenceOf(thrown: unknown): string {
  const { message } = describeThrown(thrown);
  return ToolError.isInstance(thrown) && thrown.hint !== undefined ? `${message} ${thrown.hint}` : message;
}

/** The first line that says something. */
function gist(output: string): string {
  return clipped(output.split("\n").find((line) => line.trim() !== "") ?? "");
}

function clipped(text: string): string {
  const line = text.trim().replace(/\s+/g, " ");
  return line.length <= SUMMARY_CHARS ? line : `${line.slice(0, SUMMARY_CHARS - 1)}…`;
}

/** JSON on one line is for programs. */
function readable(text: string): string {
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

const LARGEST_BYTES = 100_000;
/** Each reads the script from its standard input. */
const INTERPRETERS: Readonly<Record<string, string>> = {
  ".py": "python3 -",
  ".js": "node -",
  ".mjs": "node --input-type=module -",
  ".cjs": "node --input-type=commonjs -",
  ".ts": "node --input-type=module-typescript -",
  ".rb": "ruby -",
  ".pl": "perl -",
};

/**
 * The command line for a script. A name of a file below the scripts folder stands for that file; everything else is
 * a command line already. It is run as its own text, so that what it does is judged like any other command, and so
 * that it runs in every environment and where the Hermes home cannot be seen.
 */
async function scriptCommand(script: string, folder: string): Promise<string> {
  const file = await scriptFile(script.trim(), folder);
  if (file === undefined) return script;
  const interpreter = INTERPRETERS[extname(file).toLowerCase()];
  const text = await scriptText(file, { name: script, isShell: interpreter === undefined });
  if (interpreter === undefined) return text;
  let end = "END_OF_SCRIPT";
  while (text.includes(end)) end += "_";
  return `${interpreter} <<'${end}'\n${text}\n${end}`;
}

/** Undefined when the words name no file there. Links that lead out of the folder are refused. */
async function scriptFile(name: string, folder: string): Promise<string | undefined> {
  if (name === "" || /[\n\0]/.test(name) || name.startsWith("/")) return undefined;
  const path = join(folder, name);
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return undefined;
  const [real, root] = [await realpath(path), await realpath(folder)];
  if (isBelow(real, root)) return real;
  throw new ToolError(`The script ${name} leads out of ${folder}.`, {
    code: "denied",
    hint: "Put the script itself into that folder, or give a command line.",
  });
}

async function scriptText(
  file: string,
  { name, isShell: mustBeShell }: { readonly name: string; readonly isShell: boolean },
): Promise<string> {
  const bytes = await readFile(file);
  const text = bytes.toString("utf8");
  const interpreter = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/.exec(text)?.[1];
  const isShell = !mustBeShell || interpreter === undefined || /(?:^|\/)(?:ba|da|k|z)?sh$/.test(interpreter);
  if (isShell && bytes.length <= LARGEST_BYTES && !text.includes("\0")) return text;
  throw new ToolError(
    isShell
      ? `The script ${name} is larger than ${LARGEST_BYTES} bytes or no text.`
      : `The script ${name} is for ${interpreter}, and its name does not say so.`,
    {
      code: "invalid_arguments",
      hint: "Use a shell script, or a name that ends in .py, .js, .mjs, .ts, .rb or .pl.",
    },
  );
}
