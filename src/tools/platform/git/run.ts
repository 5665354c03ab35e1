import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { GIT_VARIABLES, type GitAnswer, runGit } from "../../files/git-program.js";
import { withoutPassword } from "./address.js";

const MAX_OUTPUT_CHARS = 2 * 1024 * 1024;
/** Hooks may build and test a project; large repositories take their time to arrive. */
export const CHANGE_TIMEOUT_MS = 600_000;
const READ_TIMEOUT_MS = 60_000;
const LONGEST_COMPLAINT = 1_500;

/** Nobody answers questions here, and no program of another repository is started. */
const VARIABLES: Readonly<Record<string, string | undefined>> = {
  ...GIT_VARIABLES,
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_MERGE_AUTOEDIT: "no",
};

const SETTINGS = [
  "core.quotePath=false",
  "core.fsmonitor=false",
  "color.ui=false",
  "submodule.recurse=false",
  "http.followRedirects=false",
];

export interface GitChange {
  readonly folder: string;
  readonly words: readonly string[];
  readonly ctx: CallContext;
  readonly stdin?: string | undefined;
  /** What may be reached; nothing when left out. */
  readonly network?:
    | {
        readonly protocols: string;
        readonly settings: readonly string[];
        readonly open: boolean;
        /** Other repositories of this machine, which a strict boundary would hide. */
        readonly read: readonly string[];
        readonly write: readonly string[];
        /** Who answers there. */
        readonly from: string;
      }
    | undefined;
  readonly writable?: readonly string[] | undefined;
}

/** Runs a command that may change the repository, with its hooks. Never through a shell. */
export async function changeWithGit(change: GitChange): Promise<GitAnswer> {
  const { folder, words, ctx, network } = change;
  const settings = [...SETTINGS, ...(network?.settings ?? [])].flatMap((one) => ["-c", one]);
  const result = await ctx.environment.exec({
    command: ["git", "--no-pager", "--literal-pathspecs", ...settings, "-C", folder, ...words],
    cwd: folder,
    env: { ...VARIABLES, GIT_ALLOW_PROTOCOL: network?.protocols ?? "none" },
    stdin: change.stdin,
    timeoutMs: CHANGE_TIMEOUT_MS,
    signal: ctx.signal,
    separateStderr: true,
    // Only what the effects of the call have named and the policy has let pass.
    sandbox: {
      read: [folder, ...(network?.read ?? [])],
      write: [...(change.writable ?? []), ...(network?.write ?? [])],
      network: network?.open === true ? true : undefined,
    },
    maxOutputChars: MAX_OUTPUT_CHARS,
    ...(network !== undefined && { onChunk: (chunk) => tellProgress(chunk, { words, network, ctx }) }),
  });
  ctx.signal.throwIfAborted();
  if (result.timedOut)
    throw new ToolError(`git ${words[0]} did not end within ${CHANGE_TIMEOUT_MS / 60_000} minutes.`, {
      code: "timeout",
      hint: "Look at the state with action status. For a large repository, clone with depth: 1.",
    });
  return {
    ok: result.exitCode === 0,
    output: result.output,
    stderr: withoutProgress(result.stderr).trim(),
    exitCode: result.exitCode,
    truncated: result.truncated,
  };
}

const VERBS: Readonly<Record<string, string>> = {
  clone: "cloning",
  fetch: "fetching from",
  pull: "pulling from",
  push: "pushing to",
};

/** git counts for people who watch a terminal: `Receiving objects:  42% (420/1000)`. */
function tellProgress(
  chunk: string,
  {
    words,
    network,
    ctx,
  }: Required<Pick<GitChange, "words" | "ctx">> & { readonly network: { readonly from: string } },
): void {
  const line = chunk.split(/[\r\n]/).findLast((one) => /\d% \(/.test(one)) ?? "";
  const [, percent] = /(\d+)% \(/.exec(line) ?? [];
  if (percent === undefined) return;
  ctx.progress({
    message: `${VERBS[words[0] ?? ""] ?? words[0]} ${network.from}`,
    fraction: Number(percent) / 100,
  });
}

const COUNTING =
  /^(?:remote: )?(?:Enumerating|Counting|Compressing|Writing|Receiving|Resolving|Unpacking|Updating|Total|Delta compression|Filtering)\b.*(?:\d|done|thread)/;

/** The counting is over when the answer is read. */
function withoutProgress(stderr: string): string {
  return stderr
    .split(/\r\n|[\r\n]/)
    .filter((line) => !COUNTING.test(line))
    .join("\n");
}

export async function mustChange(change: GitChange): Promise<GitAnswer> {
  const answer = await changeWithGit(change);
  if (!answer.ok) throw gitFailed(change.words, answer, change.network?.from);
  return answer;
}

/** Asks something that changes nothing and runs nothing of the repository; see `runGit`. */
export async function askGit(question: {
  readonly folder: string;
  readonly words: readonly string[];
  readonly ctx: CallContext;
  readonly readsFiles?: boolean;
}): Promise<GitAnswer> {
  const { folder, words, ctx, readsFiles = false } = question;
  const answer = await runGit({ folder, args: words, ctx, readsFiles, timeoutMs: READ_TIMEOUT_MS });
  if (!answer.ok) throw gitFailed(words, answer);
  return answer;
}

interface Known {
  readonly pattern: RegExp;
  readonly code?: "not_found" | "unavailable" | "invalid_arguments";
  readonly hint: string;
}

const KNOWN: readonly Known[] = [
  {
    pattern: /not a git repository/i,
    code: "not_found",
    hint: "Name the folder of the repository with repo, or clone one.",
  },
  {
    pattern: /dubious ownership/,
    hint: "The repository belongs to another user; the person can allow it with git config --global --add safe.directory PATH.",
  },
  {
    pattern: /tell me who you are|unable to auto-detect email|empty ident name/,
    hint: 'The person has to say who commits: git config --global user.name "…" and user.email "…".',
  },
  {
    pattern: /could not read (?:Username|Password)|Authentication failed|terminal prompts disabled|HTTP 401/,
    hint: "The server wants credentials: a credential helper of git or an SSH key must have them; nobody can be asked here.",
  },
  {
    pattern: /Permission denied \(publickey|Host key verification failed/,
    hint: "The SSH key or the server's host key is not known here; the person sets it up once with ssh HOST.",
  },
  {
    pattern: /repository '.*' (?:not found|does not exist)|does not appear to be a git repository/,
    code: "not_found",
    hint: "Check the address; servers say the same of a private repository to those without credentials.",
  },
  {
    pattern: /non-fast-forward|fetch first|\[rejected\]|stale info/,
    hint: "The other side has commits that are not here: pull first, then push.",
  },
  {
    pattern: /unable to update url base from redirection|error: 30\d|redirect/i,
    hint: "The server redirects; use the address it redirects to (redirects are not followed).",
  },
  {
    pattern: /would be overwritten|Please commit your changes or stash them/,
    hint: "Commit the changes or put them aside with action stash, then try again.",
  },
  {
    pattern: /unknown revision|bad revision|did not match any file|not a valid ref|pathspec/,
    code: "not_found",
    hint: "Check the names: branch, tag and log list them, status lists files.",
  },
  {
    pattern: /nothing to commit|no changes added/,
    hint: "Nothing is staged: add files, or commit with paths or all: true.",
  },
];

/** `from` is the other side, whose words git passes on. */
export function gitFailed(words: readonly string[], answer: GitAnswer, from?: string): ToolError {
  if (answer.exitCode === 127 || answer.exitCode === 126)
    return new ToolError("git is not installed there.", {
      code: "unavailable",
      hint: "Install it: apt-get install git",
    });
  const said = withoutPassword(
    [answer.stderr, answer.output.trim()].filter((part) => part !== "").join("\n"),
  );
  const text = said
    .replace(/^Cloning into .*\n/m, "")
    .replace(/^(?:fatal|error): /gm, "")
    .trim();
  const known = KNOWN.find(({ pattern }) => pattern.test(said));
  return new ToolError(
    `git ${words[0]} failed: ${text === "" ? `exit code ${answer.exitCode}` : text.slice(0, LONGEST_COMPLAINT)}`,
    { code: known?.code ?? "failed", hint: known?.hint, details: { exit_code: answer.exitCode }, from },
  );
}
