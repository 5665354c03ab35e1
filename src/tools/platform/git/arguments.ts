import { quoteIfNeeded } from "../../../base/quote.js";
import { folderFor, readAddress } from "./address.js";

export const ACTIONS = [
  "status",
  "log",
  "diff",
  "show",
  "blame",
  "add",
  "commit",
  "branch",
  "checkout",
  "merge",
  "stash",
  "tag",
  "remote",
  "clone",
  "fetch",
  "pull",
  "push",
] as const;
export const OPERATIONS = [
  "list",
  "create",
  "delete",
  "push",
  "pop",
  "apply",
  "drop",
  "add",
  "remove",
  "abort",
] as const;

export type Action = (typeof ACTIONS)[number];
export type Operation = (typeof OPERATIONS)[number];

export interface GitArguments {
  readonly action: Action;
  readonly operation?: Operation | undefined;
  readonly repo: string;
  readonly paths?: readonly string[] | undefined;
  readonly message?: string | undefined;
  readonly branch?: string | undefined;
  readonly ref?: string | undefined;
  readonly tag?: string | undefined;
  readonly remote?: string | undefined;
  readonly url?: string | undefined;
  readonly path?: string | undefined;
  readonly lines?: string | undefined;
  readonly limit: number;
  readonly depth?: number | undefined;
  readonly all?: boolean | undefined;
  readonly staged?: boolean | undefined;
  readonly create?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly amend?: boolean | undefined;
  readonly rebase?: boolean | undefined;
}

const READS: readonly Action[] = ["status", "log", "diff", "show", "blame"];
const NETWORK: readonly Action[] = ["clone", "fetch", "pull", "push"];

/** What `operation` means where it is left out. */
export function operationOf({ action, operation, branch, tag, url }: GitArguments): Operation | undefined {
  if (operation !== undefined) return operation;
  switch (action) {
    case "branch":
      return branch === undefined ? "list" : "create";
    case "tag":
      return tag === undefined ? "list" : "create";
    case "stash":
      return "push";
    case "remote":
      return url === undefined ? "list" : "add";
    default:
      return undefined;
  }
}

export function onlyReads(args: GitArguments): boolean {
  return READS.includes(args.action) || operationOf(args) === "list";
}

export function usesNetwork({ action }: GitArguments): boolean {
  return NETWORK.includes(action);
}

const ALLOWED: Readonly<Partial<Record<Action, readonly Operation[]>>> = {
  branch: ["list", "create", "delete"],
  tag: ["list", "create", "delete"],
  stash: ["list", "push", "pop", "apply", "drop"],
  remote: ["list", "add", "remove"],
  merge: ["abort"],
  push: ["delete"],
};

/** Why these arguments cannot be carried out; undefined when they can. */
export function problemWith(args: GitArguments): string | undefined {
  const { action, operation } = args;
  for (const name of ["branch", "ref", "tag", "remote", "url", "path"] as const) {
    const value = args[name];
    const problem = value === undefined ? undefined : problemWithWord(value);
    if (problem !== undefined) return `${name} ${problem}`;
  }
  // `+main` and `a:b` say what is written where; a name of a branch or a remote cannot hold either.
  for (const name of ["branch", "tag", "remote"] as const)
    if (/^\+|:/.test(args[name] ?? "")) return `${name} is not a name: ${JSON.stringify(args[name])}`;
  if (operation !== undefined && !(ALLOWED[action] ?? []).includes(operation))
    return `${action} has no operation ${operation}${ALLOWED[action] === undefined ? "" : ` (it has ${ALLOWED[action].join(", ")})`}`;
  const missing = missingFor(args);
  if (missing !== undefined) return `${action} needs ${missing}`;
  const address = args.url === undefined ? undefined : readAddress(args.url);
  return address?.kind === "refused" ? `url cannot be used: ${address.why}` : undefined;
}

/** Git takes what begins with a dash for an option, wherever it stands. */
function problemWithWord(value: string): string | undefined {
  if (value === "") return "is empty";
  if (value.startsWith("-")) return "begins with -, which git would take for an option";
  return /[\u0000-\u001f\u007f]/.test(value) ? "holds a control character" : undefined;
}

function missingFor(args: GitArguments): string | undefined {
  const { action, paths = [], message, branch, ref, url } = args;
  const operation = operationOf(args);
  switch (action) {
    case "add":
      return paths.length === 0 && args.all !== true ? "paths, or all: true" : undefined;
    case "commit":
      return message === undefined && args.amend !== true ? "a message" : undefined;
    case "blame":
      return paths.length === 1 ? undefined : "exactly one of paths";
    case "branch":
      return operation !== "list" && branch === undefined ? "branch" : undefined;
    case "checkout":
      return (branch ?? ref) === undefined && paths.length === 0 ? "branch, ref or paths" : undefined;
    case "merge":
      return operation !== "abort" && (branch ?? ref) === undefined ? "branch or ref" : undefined;
    case "tag":
      return operation !== "list" && args.tag === undefined ? "tag" : undefined;
    case "remote":
      if (operation === "list") return undefined;
      if (args.remote === undefined) return "remote, the name";
      return operation === "add" && url === undefined ? "url" : undefined;
    case "clone":
      return url === undefined ? "url" : undefined;
    case "push":
      return operation === "delete" && branch === undefined ? "branch" : undefined;
    default:
      return undefined;
  }
}

/** Words behind `git`, and what it reads from standard input. */
export interface GitWords {
  readonly words: readonly string[];
  readonly stdin?: string | undefined;
}

const PULLS = ["--no-recurse-submodules", "--upload-pack=git-upload-pack"];

/** The one command of an action that changes something; pure, so that it can be judged before it runs. */
export function changingWords(args: GitArguments): GitWords {
  const { action, message, branch, ref, paths = [] } = args;
  const operation = operationOf(args);
  const files = paths.length === 0 ? [] : ["--", ...paths];
  const forced = (option: string) => (args.force === true ? [option] : []);
  const optional = (value: string | undefined) => (value === undefined ? [] : [value]);
  switch (action) {
    case "add":
      return { words: ["add", ...(args.all === true ? ["--all"] : []), ...files] };
    case "commit": {
      const kind = [...(args.all === true ? ["--all"] : []), ...(args.amend === true ? ["--amend"] : [])];
      const only = paths.length === 0 ? [] : ["--only"];
      return message === undefined
        ? { words: ["commit", "--quiet", ...kind, "--no-edit", ...only, ...files] }
        : { words: ["commit", "--quiet", ...kind, "--file=-", ...only, ...files], stdin: message };
    }
    case "branch":
      return operation === "delete"
        ? { words: ["branch", args.force === true ? "-D" : "-d", branch ?? ""] }
        : { words: ["branch", ...forced("--force"), branch ?? "", ...optional(ref)] };
    case "checkout":
      if (paths.length > 0) return { words: ["checkout", "--quiet", ...optional(ref ?? branch), ...files] };
      if (args.create === true && branch !== undefined)
        return { words: ["checkout", "--quiet", ...forced("--force"), "-b", branch, ...optional(ref)] };
      return { words: ["checkout", "--quiet", ...forced("--force"), branch ?? ref ?? "", "--"] };
    case "merge":
      if (operation === "abort") return { words: ["merge", "--abort"] };
      return {
        words: ["merge", "--no-edit", ...(message === undefined ? [] : ["-m", message]), branch ?? ref ?? ""],
      };
    case "stash":
      if (operation !== "push") return { words: ["stash", operation ?? "", "--quiet", ...optional(ref)] };
      return {
        words: [
          "stash",
          "push",
          "--quiet",
          ...(args.all === true ? ["--include-untracked"] : []),
          ...(message === undefined ? [] : ["-m", message]),
          ...files,
        ],
      };
    case "tag":
      if (operation === "delete") return { words: ["tag", "--delete", args.tag ?? ""] };
      return {
        words: [
          "tag",
          ...forced("--force"),
          ...(message === undefined ? [] : ["--annotate", "--file=-"]),
          args.tag ?? "",
          ...optional(ref),
        ],
        stdin: message,
      };
    case "remote":
      return operation === "remove"
        ? { words: ["remote", "remove", args.remote ?? ""] }
        : { words: ["remote", "add", args.remote ?? "", args.url ?? ""] };
    case "clone":
      return {
        words: [
          "clone",
          "--progress",
          ...PULLS,
          ...(args.depth === undefined ? [] : [`--depth=${args.depth}`]),
          ...(branch === undefined ? [] : [`--branch=${branch}`]),
          "--",
          args.url ?? "",
          cloneTarget(args),
        ],
      };
    case "fetch":
      return {
        words: [
          "fetch",
          "--progress",
          ...PULLS,
          ...(args.all === true ? ["--tags"] : []),
          args.remote ?? "origin",
          ...optional(branch),
        ],
      };
    case "pull":
      return {
        words: [
          "pull",
          "--progress",
          "--no-stat",
          "--no-edit",
          args.rebase === true ? "--rebase" : "--no-rebase",
          ...PULLS,
          args.remote ?? "origin",
          ...optional(branch),
        ],
      };
    case "push":
      return {
        words: [
          "push",
          "--porcelain",
          "--progress",
          "--recurse-submodules=no",
          "--receive-pack=git-receive-pack",
          ...forced("--force-with-lease"),
          ...(operation === "delete" ? ["--delete"] : []),
          ...(args.all === true ? ["--tags"] : []),
          args.remote ?? "origin",
          ...optional(branch ?? args.tag),
        ],
      };
    default:
      return { words: [action] };
  }
}

export function cloneTarget({ path, url = "" }: GitArguments): string {
  return path ?? folderFor(url);
}

/** As a person would type it. */
export function lineOf(words: readonly string[]): string {
  return ["git", ...words].map(quoteIfNeeded).join(" ");
}
