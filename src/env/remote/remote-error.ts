import { messageOf } from "../../base/errno.js";
import { ToolError } from "../../tool/errors.js";
import { conflict, fileError } from "../local/file-errors.js";

/** A command's fate is not known: never a result, never tried anywhere else. */
export function lostWhileRunning(name: string, why: string): ToolError {
  return new ToolError(
    `The connection to ${name} was lost while the command ran (${trimmed(why)}); whether it finished is unknown.`,
    {
      code: "unavailable",
      hint: "Look at what it may have changed before you repeat it. The next call connects again and ends what is left of it.",
      details: { lost: true },
    },
  );
}

export function lostWhileWorking(name: string, why: string): ToolError {
  return new ToolError(`The connection to ${name} was lost (${trimmed(why)}).`, {
    code: "unavailable",
    hint: "Call again: the next call connects anew.",
    details: { lost: true },
  });
}

export function closedError(name: string): ToolError {
  return new ToolError(`The environment ${name} is closed.`, {
    code: "unavailable",
    hint: "Open a new session.",
  });
}

export function noShell(name: string, said: string): ToolError {
  const words = trimmed(said);
  return new ToolError(`No shell could be started in ${name}${words === "" ? "" : `: ${words}`}.`, {
    code: "unavailable",
    hint: "It needs at least `sh` in its PATH; choose an image or a host that has one.",
  });
}

export function reasonOf(error: unknown): string {
  return messageOf(error);
}

function trimmed(text: string): string {
  return text.trim().replace(/\.$/, "").slice(0, 500);
}

/** The words of the C library (glibc, musl) and of the shells for what the kernel answered. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/cannot overwrite directory/i, "EISDIR"],
  [/cannot overwrite non-directory/i, "ENOTDIR"],
  [/no such file|nonexistent|does not exist/i, "ENOENT"],
  [/not a directory/i, "ENOTDIR"],
  [/is a directory/i, "EISDIR"],
  [/permission denied/i, "EACCES"],
  [/not permitted/i, "EPERM"],
  [/read-only file system/i, "EROFS"],
  [/no space left/i, "ENOSPC"],
  [/quota exceeded/i, "EDQUOT"],
  [/file ?name too long/i, "ENAMETOOLONG"],
  [/too many levels|symbolic link loop/i, "ELOOP"],
  [/not empty/i, "ENOTEMPTY"],
  [/file exists/i, "EEXIST"],
  [/resource busy/i, "EBUSY"],
  [/input\/output error|i\/o error/i, "EIO"],
];

export interface FailedThere {
  readonly stderr: string;
  readonly path: string;
  readonly action: string;
  readonly expected?: string | undefined;
}

/** What a script there said, as the error that the local file functions give for the same. */
export function errorFromThere(failed: FailedThere): unknown {
  const { stderr, path, action } = failed;
  const said = [...stderr.matchAll(/^HERMES:(\S+)(?: (\S*))?$/gm)].at(-1);
  const [, code = errnoOf(stderr), detail] = said ?? [];
  switch (code) {
    case "FOLDER":
    case "SPECIAL":
      return wrongKind(
        failed,
        code === "FOLDER" ? "a folder" : "not a regular file (a device, pipe or socket)",
      );
    case "LINK":
      return new ToolError(`Did not write ${path}: it is a link.`, {
        code: "denied",
        hint: "Look where it leads and name that place. If it was a file before, another program has changed it.",
        details: { path, moved: true },
      });
    case "MOVED":
      return hasMoved(path);
    case "CONFLICT":
      return conflict({ path, expected: failed.expected, actual: detail === "none" ? undefined : detail });
    case undefined:
      return new ToolError(`Cannot ${action} ${path}: ${lastLine(stderr) || "the tools there failed"}.`, {
        details: { path },
      });
    default:
      return fileError({ error: Object.assign(new Error(code), { code }), path, action });
  }
}

/** Only the end of a line counts: the rest may be a file's name. */
function errnoOf(stderr: string): string | undefined {
  for (const line of stderr.split("\n").reverse()) {
    const reason = line.slice(line.lastIndexOf(":") + 1);
    for (const [words, code] of WORDS) if (words.test(reason)) return code;
  }
  return WORDS.find(([words]) => words.test(stderr))?.[1];
}

function lastLine(text: string): string {
  return (text.trim().split("\n").at(-1) ?? "").slice(0, 300).replace(/\.$/, "");
}

function wrongKind({ path, action }: FailedThere, what: string): ToolError {
  const message = action === "write" ? `Cannot write ${path}: it is ${what}.` : `${path} is ${what}.`;
  return new ToolError(message, { hint: "Name a regular file." });
}

function hasMoved(path: string): ToolError {
  return new ToolError(`${path} changed while it was being used: a part of it leads elsewhere now.`, {
    code: "denied",
    hint: "Another program is changing these folders. Look at them before you try again.",
    details: { path, moved: true },
  });
}
