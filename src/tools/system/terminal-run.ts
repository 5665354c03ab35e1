import { StringDecoder } from "node:string_decoder";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { OutputWindow } from "../../env/output-window.js";
import type { TrackedProcess } from "../../env/processes/types.js";
import { looksLikePrompt, type WantedInput } from "../../env/pty/prompt.js";
import type { CallContext } from "../../tool/tool.js";
import { TERMINAL_SIZE } from "./background.js";
import { exitMeaning } from "./exit-notes.js";
import { endError, type ForegroundArguments, outputLimit } from "./foreground-run.js";
import { heldFields, type TerminalOutput, ToldUnguarded } from "./terminal-output.js";
import { wideningOf } from "./widen.js";
import { workingDirectory } from "./workdir.js";

const FIRST_LOOK_MS = 60;
const LONGEST_PAUSE_MS = 400;
/** Silence after which something that waits and looks like a question counts as one. */
const ASKS_MS = 250;
/** The same where only one of the two is known: programs also listen to the keyboard while they work. */
const MAY_ASK_MS = 2_000;

const NOTE =
  "It ran in a terminal of its own: the folder it went to and what it exported are not carried on to the next call.";

type End = "itself" | "timeout" | "cancelled" | { readonly waits: WantedInput | "input" };

/** Runs a command in a terminal until it ends, the time is over, or it waits for somebody to type. */
export async function runInTerminal(args: ForegroundArguments, ctx: CallContext): Promise<TerminalOutput> {
  const { command, timeout } = args;
  const started = performance.now();
  const window = new OutputWindow(outputLimit(ctx));
  const decoder = new StringDecoder("utf8");
  const sandbox = wideningOf(args.widen);
  const process = await ctx.processes.start({
    environment: ctx.environment,
    command,
    title: command,
    cwd: workingDirectory(args.workdir, ctx),
    pty: TERMINAL_SIZE,
    callId: ctx.callId,
    signal: ctx.signal,
    sandbox,
    onOutput: (bytes) => {
      window.push(bytes);
      ctx.progress({ chunk: decoder.write(Buffer.from(bytes)) });
    },
  });
  const end = await followToEnd(process, { deadline: started + timeout * 1000, signal: ctx.signal });
  const survivors = end === "timeout" || end === "cancelled" ? await process.kill() : [];
  const [screen, { text, truncated }] = [await process.screen(), window.finish()];
  const output = stripVTControlCharacters(text).replaceAll("\r\n", "\n");
  const { info } = process;
  const ended = howItEnded({ end, command, timeout, process });
  return {
    output,
    ...ended,
    ...heldFields(process, { output, exitCode: ended.exit_code ?? 0, told: ctx.keep(ToldUnguarded) }),
    ...(survivors.length > 0 && {
      still_running: survivors.map(({ pid, command: program }) => `${pid} (${program})`),
    }),
    ...(screen !== undefined && screen.text !== output.trimEnd() && { screen: screen.text }),
    pid: info.pid,
    pty_note: NOTE,
    duration_ms: Math.round(performance.now() - started),
    truncated,
    cwd: info.cwd,
    environment: info.environment,
  };
}

function howItEnded(run: {
  readonly end: End;
  readonly command: string;
  readonly timeout: number;
  readonly process: TrackedProcess;
}): Pick<
  TerminalOutput,
  "exit_code" | "error" | "exit_code_meaning" | "status" | "session_id" | "hint" | "wanted_input"
> {
  const { end, command, timeout, process } = run;
  const { info } = process;
  if (typeof end === "object") {
    return {
      exit_code: null,
      status: "needs_input",
      wanted_input: end.waits,
      session_id: info.id,
      hint:
        "It still runs and waits for input. Go on with the process tool and this session_id: submit (text and " +
        "Enter), write (keys such as <esc> or <ctrl-c>), screen, or kill.",
    };
  }
  const timedOut = end === "timeout";
  const cancelled = end === "cancelled";
  const exitCode = timedOut ? 124 : cancelled ? 130 : (info.exitCode ?? 1);
  const error =
    end === "itself" && info.lost !== undefined
      ? `It was lost: ${info.lost}.`
      : endError({ timedOut, cancelled }, timeout);
  const meaning = end === "itself" ? exitMeaning(command, exitCode) : undefined;
  return { exit_code: exitCode, error, exit_code_meaning: meaning };
}

async function followToEnd(
  process: TrackedProcess,
  { deadline, signal }: { readonly deadline: number; readonly signal: AbortSignal },
): Promise<End> {
  let ended = false;
  const over = process.ended.then(() => {
    ended = true;
  });
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    const left = deadline - performance.now();
    await Promise.race([
      over,
      delay(Math.max(0, Math.min(pause, left)), undefined, { signal }).catch(() => undefined),
    ]);
    if (ended) return "itself";
    if (signal.aborted) return "cancelled";
    if (performance.now() >= deadline) return "timeout";
    const waits = process.quietMs < ASKS_MS ? undefined : await whatItWaitsFor(process);
    if (waits !== undefined) return { waits };
  }
}

/** Undefined when it does not wait, as far as can be told. */
async function whatItWaitsFor(process: TrackedProcess): Promise<WantedInput | "input" | undefined> {
  const waits = await process.waitsForInput();
  if (waits === false) return undefined;
  const wanted = looksLikePrompt((await process.screen())?.text ?? "");
  const certain = waits === true && wanted !== undefined;
  if (!certain && (process.quietMs < MAY_ASK_MS || (waits === undefined && wanted === undefined)))
    return undefined;
  // It may have gone on, or ended, while it was looked at.
  return process.quietMs < ASKS_MS || process.info.status !== "running" ? undefined : (wanted ?? "input");
}
