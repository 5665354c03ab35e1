import type { CallContext } from "../../tool/tool.js";

const TIMEOUT_MS = 15_000;
const MAX_OUTPUT_CHARS = 8 * 1024 * 1024;

export interface GitRun {
  readonly folder: string;
  readonly args: readonly string[];
  readonly ctx: CallContext;
  /** The working tree is looked at, so that filters of the repository would run; see `quietFilters`. */
  readonly readsFiles?: boolean;
  readonly timeoutMs?: number;
}

export interface GitAnswer {
  readonly ok: boolean;
  readonly output: string;
  readonly stderr: string;
  readonly exitCode: number;
  /** Some of the output is missing. */
  readonly truncated: boolean;
}

/**
 * Asks git something that only reads. A repository can name programs that git would run meanwhile (monitors,
 * filters, helpers that fetch what is missing); none of them runs here.
 */
export async function runGit(run: GitRun): Promise<GitAnswer> {
  const quiet = run.readsFiles === true ? await quietFilters(run) : [];
  return execGit(run, gitCommand(run.folder, [...quiet, ...run.args]));
}

/** The whole command, for those who start it themselves. */
export function gitCommand(folder: string, args: readonly string[]): readonly string[] {
  return [
    "git",
    "--no-optional-locks",
    "--no-pager",
    "--literal-pathspecs",
    ...["core.fsmonitor=false", "protocol.allow=never", "core.quotePath=false"].flatMap((one) => ["-c", one]),
    "-C",
    folder,
    ...args,
  ];
}

/** What the session has exported must not send git to another repository. */
export const GIT_VARIABLES: Readonly<Record<string, string | undefined>> = {
  LC_ALL: "C",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  GIT_DIR: undefined,
  GIT_WORK_TREE: undefined,
  GIT_INDEX_FILE: undefined,
  GIT_EXTERNAL_DIFF: undefined,
  GIT_CONFIG_PARAMETERS: undefined,
  GIT_CONFIG_COUNT: undefined,
};

async function execGit(run: GitRun, command: readonly string[]): Promise<GitAnswer> {
  const { ctx, folder } = run;
  const result = await ctx.environment.exec({
    command,
    cwd: folder,
    env: GIT_VARIABLES,
    timeoutMs: run.timeoutMs ?? TIMEOUT_MS,
    signal: ctx.signal,
    separateStderr: true,
    sandbox: { read: [folder] },
    maxOutputChars: MAX_OUTPUT_CHARS,
  });
  ctx.signal.throwIfAborted();
  return {
    ok: result.exitCode === 0 && !result.timedOut,
    output: result.output,
    stderr: result.stderr.trim(),
    exitCode: result.exitCode,
    truncated: result.truncated,
  };
}

/** Filters of large file storage are a known program; whatever else is named there is not run. */
const KNOWN_FILTERS = new Set(["git-lfs clean -- %f", "git-lfs filter-process"]);

async function quietFilters(run: GitRun): Promise<readonly string[]> {
  const pattern = "^filter\\..*\\.(clean|process)$";
  const { ok, output } = await execGit(
    run,
    gitCommand(run.folder, ["config", "-z", "--get-regexp", pattern]),
  );
  if (!ok) return [];
  return output
    .split("\0")
    .filter((record) => record !== "")
    .flatMap((record) => {
      const [key = "", ...value] = record.split("\n");
      return KNOWN_FILTERS.has(value.join("\n")) ? [] : ["-c", `${key}=`];
    });
}
