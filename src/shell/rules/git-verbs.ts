import type { ParsedOptions } from "../read/options.js";
import type { ShellWord } from "../types.js";
import { isCredentialFile } from "./places.js";
import { has, valuesOf } from "./verb-table.js";

/** How one git sub-command is read, and what in it a person should see first. */
export interface GitVerb {
  readonly taking?: readonly string[];
  readonly long?: readonly string[];
  readonly judge?: (call: GitVerbCall) => string | undefined;
}

interface GitVerbCall {
  readonly options: ParsedOptions;
  readonly args: readonly ShellWord[];
}

const DISCARDS = "throws away changes that are not committed";
const REWRITES = "rewrites or drops history others may have";

const PATH_LIKE =
  /^(?:\.{1,2}|\.{0,2}\/.*|.*\/|:\/.*|:\(.*|\*.*|.*\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|lua|sh|md|rst|txt|json|ya?ml|toml|ini|cfg|conf|env|lock|xml|html?|s?css|less|vue|svelte|sql|csv|proto|gradle|tf|ipynb))$/;

/** Sub-commands with a word after them: `stash drop`, `reflog expire`. */
const sub = (call: GitVerbCall): string => call.options.operands[0]?.text ?? "";

const push: GitVerb = {
  taking: ["o", "push-option", "repo", "receive-pack", "exec"],
  long: [
    "force",
    "force-with-lease",
    "force-if-includes",
    "mirror",
    "delete",
    "prune",
    "dry-run",
    "receive-pack",
    "tags",
    "all",
    "set-upstream",
    "no-verify",
  ],
  judge: ({ options }) => {
    if (has(options, "n", "dry-run")) return undefined;
    if (has(options, "f", "force", "force-with-lease", "mirror")) return "overwrites history on the remote";
    if (has(options, "d", "delete", "prune")) return "deletes branches on the remote";
    for (const { text } of options.operands.slice(1)) {
      if (/^\+./.test(text)) return "overwrites history on the remote";
      if (/^:./.test(text)) return "deletes a branch on the remote";
    }
    return undefined;
  },
};

const checkout: GitVerb = {
  taking: ["b", "B", "orphan", "conflict", "pathspec-from-file"],
  long: ["force", "detach", "track", "orphan", "ours", "theirs", "patch", "quiet", "merge"],
  judge: ({ options, args }) => {
    if (has(options, "f", "force")) return DISCARDS;
    if (has(options, "b", "B", "orphan", "p", "patch", "t", "track", "detach")) return undefined;
    if (has(options, "pathspec-from-file")) return DISCARDS;
    const dashes = args.findIndex((word) => word.text === "--");
    if (dashes >= 0) return dashes < args.length - 1 ? DISCARDS : undefined;
    const [first, second] = options.operands;
    if (second !== undefined) return DISCARDS;
    return first !== undefined && PATH_LIKE.test(first.text) ? DISCARDS : undefined;
  },
};

const flagged = (reason: string, ...names: readonly string[]): GitVerb => ({
  long: names.filter((name) => name.length > 1),
  judge: ({ options }) => (has(options, ...names) ? reason : undefined),
});

const unlessDry = (reason: string): GitVerb => ({
  judge: ({ options }) => (has(options, "n", "dry-run") ? undefined : reason),
});

export const GIT_VERBS: Readonly<Record<string, GitVerb>> = {
  reset: {
    long: ["hard", "soft", "mixed", "merge", "keep", "quiet", "patch"],
    judge: ({ options }) => (has(options, "hard", "merge", "keep") ? DISCARDS : undefined),
  },
  push,
  "send-pack": push,
  clean: {
    taking: ["e", "exclude"],
    long: ["force", "dry-run", "exclude", "interactive", "quiet"],
    judge: ({ options }) =>
      has(options, "f", "force") && !has(options, "n", "dry-run", "i", "interactive")
        ? "deletes files that git does not track"
        : undefined,
  },
  branch: {
    taking: ["u", "set-upstream-to", "contains", "no-contains", "points-at", "sort", "format"],
    long: ["delete", "force", "move", "copy", "list", "all", "remotes", "merged", "no-merged"],
    judge: ({ options }) => {
      if (has(options, "D")) return "deletes a branch with commits that may be nowhere else";
      return has(options, "f", "force") ? "deletes or moves a branch by force" : undefined;
    },
  },
  checkout,
  switch: flagged(DISCARDS, "f", "force", "discard-changes"),
  restore: {
    taking: ["s", "source", "conflict", "pathspec-from-file"],
    long: ["staged", "worktree", "source", "patch", "ours", "theirs"],
    judge: ({ options }) => {
      if (options.operands.length === 0 && !has(options, "pathspec-from-file")) return undefined;
      if (has(options, "p", "patch")) return undefined;
      return has(options, "S", "staged") && !has(options, "W", "worktree") ? undefined : DISCARDS;
    },
  },
  stash: {
    taking: ["m", "message"],
    judge: (call) => (/^(?:drop|clear)$/.test(sub(call)) ? "throws away stashed work" : undefined),
  },
  reflog: {
    judge: (call) =>
      /^(?:expire|delete|drop)$/.test(sub(call)) && !has(call.options, "n", "dry-run")
        ? "removes the record that lets lost commits be found"
        : undefined,
  },
  gc: {
    judge: ({ options }) =>
      valuesOf(options, "prune").some(({ text }) => /now|all|^0|\uFFFC/.test(text))
        ? "deletes commits that nothing points to"
        : undefined,
  },
  prune: unlessDry("deletes commits that nothing points to"),
  "update-ref": {
    judge: ({ options }) =>
      has(options, "d", "delete", "stdin") || options.operands.length > 1
        ? "moves or deletes a branch directly"
        : undefined,
  },
  "symbolic-ref": flagged("deletes a reference", "d", "delete"),
  "filter-branch": { judge: () => REWRITES },
  "filter-repo": { judge: ({ options }) => (has(options, "analyze", "dry-run") ? undefined : REWRITES) },
  replace: {
    judge: ({ options }) =>
      has(options, "l", "list") || options.operands.length === 0 ? undefined : REWRITES,
  },
  "fast-import": flagged(REWRITES, "force"),
  tag: {
    taking: ["m", "message", "F", "file", "u", "local-user", "contains", "sort", "format", "points-at", "n"],
    long: ["delete", "force", "list", "annotate", "sign", "message"],
    judge: ({ options }) => {
      if (has(options, "l", "list")) return undefined;
      return has(options, "d", "delete", "f", "force") ? "deletes or moves a tag" : undefined;
    },
  },
  remote: {
    judge: (call) => (/^(?:remove|rm)$/.test(sub(call)) ? "forgets a remote and its branches" : undefined),
  },
  worktree: {
    judge: (call) => (sub(call) === "remove" && has(call.options, "f", "force") ? DISCARDS : undefined),
  },
  submodule: {
    judge: (call) => {
      const verb = sub(call);
      const forced = has(call.options, "f", "force");
      if (verb === "deinit" && (forced || has(call.options, "all"))) return DISCARDS;
      return verb === "update" && forced ? DISCARDS : undefined;
    },
  },
  rm: {
    taking: ["pathspec-from-file"],
    long: ["cached", "force", "dry-run", "quiet", "ignore-unmatch"],
    judge: ({ options }) => {
      if (has(options, "cached", "n", "dry-run")) return undefined;
      if (has(options, "r")) return "deletes a folder from the project";
      return has(options, "f", "force") ? DISCARDS : undefined;
    },
  },
  "read-tree": flagged(DISCARDS, "reset"),
  "checkout-index": flagged(DISCARDS, "f", "force"),
  credential: {
    judge: (call) => (sub(call) === "fill" ? "prints a stored password" : undefined),
  },
  ...Object.fromEntries(
    [
      "credential-store",
      "credential-cache",
      "credential-libsecret",
      "credential-osxkeychain",
      "credential-manager",
    ].map((name): [string, GitVerb] => [
      name,
      { judge: (call) => (sub(call) === "get" ? "prints a stored password" : undefined) },
    ]),
  ),
  add: {
    long: ["force", "all", "update", "patch", "dry-run", "intent-to-add"],
    judge: ({ options }) =>
      has(options, "f", "force") && !has(options, "n", "dry-run") && options.operands.some(isCredentialFile)
        ? "puts secrets under version control"
        : undefined,
  },
  grep: {
    taking: ["e", "f", "A", "B", "C", "m", "O", "threads"],
    judge: ({ options }) =>
      valuesOf(options, "O", "open-files-in-pager").some(
        ({ text }) => !/^(?:less|vim?|nvim|more|cat|)$/.test(text),
      )
        ? "opens what it finds with a program"
        : undefined,
  },
  difftool: {
    taking: ["x", "extcmd", "t", "tool"],
    judge: ({ options }) =>
      valuesOf(options, "x", "extcmd").some(
        ({ text }) => !/^[\w.-]*diff[\w.-]*$|^(?:meld|code --diff)$/.test(text),
      )
        ? "compares files with a program of its own choice"
        : undefined,
  },
  annex: {
    judge: (call) => (/^(?:drop|dropunused|uninit)$/.test(sub(call)) ? "drops stored files" : undefined),
  },
  clone: {
    taking: [
      "u",
      "upload-pack",
      "c",
      "config",
      "template",
      "o",
      "origin",
      "b",
      "branch",
      "depth",
      "j",
      "jobs",
      "filter",
      "reference",
      "separate-git-dir",
      "shallow-since",
    ],
  },
  "send-email": {
    taking: ["sendmail-cmd", "to-cmd", "cc-cmd", "header-cmd", "smtp-server", "to", "cc", "subject", "from"],
    judge: ({ options }) => {
      const programs = valuesOf(options, "sendmail-cmd", "to-cmd", "cc-cmd", "header-cmd");
      const server = valuesOf(options, "smtp-server").filter(({ text }) => text.startsWith("/"));
      return programs.length + server.length > 0 ? "names a program that git starts" : undefined;
    },
  },
  fetch: { taking: ["upload-pack", "o", "j", "jobs", "depth", "refmap"] },
  pull: { taking: ["upload-pack", "o", "j", "jobs", "depth", "s", "strategy", "X"] },
  "ls-remote": { taking: ["upload-pack", "o"] },
  archive: { taking: ["exec", "remote", "o", "output", "format", "prefix"] },
};
