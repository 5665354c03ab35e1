import { parseOptions } from "../read/options.js";
import type { Rule } from "../types.js";
import { logsInWith } from "./flows.js";
import { danger, forPrograms, has, valuesOf, verbRule } from "./verb-table.js";

const LEAVES_FOR_GOOD = "deletes something on the forge for everybody";
const EXPOSES = "changes who can see or use the repository";

const forge = verbRule({
  family: "git",
  taking: [
    "R",
    "repo",
    "X",
    "method",
    "H",
    "header",
    "f",
    "raw-field",
    "F",
    "field",
    "q",
    "jq",
    "t",
    "hostname",
    "visibility",
    "b",
    "body",
    "title",
    "B",
    "m",
  ],
  dry: ["dry-run"],
  verbs: [
    {
      path: "* delete|remove|delete-asset|item-delete|field-delete",
      reason: LEAVES_FOR_GOOD,
      when: ({ operands }) => !/^(?:alias|search|extension|ext|browse)$/.test(operands[0]?.text ?? ""),
    },
    { path: "repo|project|cluster * delete|remove", reason: LEAVES_FOR_GOOD },
    { path: "secret|variable set", reason: "changes secrets of the repository" },
    { path: "ssh-key|gpg-key|deploy-key add", reason: "gives a key access to the account" },
    { path: "repo deploy-key add", reason: "gives a key access to the account" },
    { path: "repo archive|transfer", reason: EXPOSES },
    {
      path: "repo edit",
      reason: EXPOSES,
      when: (call) => has(call, "visibility", "accept-visibility-change-consequences"),
    },
    { path: "repo sync", reason: "overwrites a branch", when: (call) => has(call, "force") },
    { path: "workflow disable", reason: "switches a workflow off" },
    { path: "auth token", reason: "prints an access token", when: ({ command }) => !logsInWith(command) },
    { path: "auth status", reason: "prints an access token", when: (call) => has(call, "t", "show-token") },
    {
      path: "alias set",
      reason: "hides a shell command in an alias",
      when: (call) => has(call, "s", "shell") || call.rest.some(({ text }) => text.startsWith("!")),
    },
    {
      path: "api",
      reason: LEAVES_FOR_GOOD,
      when: (call) => valuesOf(call, "X", "method").some(({ text }) => /^delete$/i.test(text)),
    },
    {
      path: "api graphql",
      reason: LEAVES_FOR_GOOD,
      when: (call) =>
        valuesOf(call, "f", "F", "field", "raw-field").some(
          ({ text }) => text.includes("mutation") && /\bdelete[A-Z]\w*\s*\(/.test(text),
        ),
    },
  ],
});

const svn: Rule = (command) => {
  const options = parseOptions(command.args, {
    taking: ["m", "message", "r", "revision", "F", "depth", "username", "password", "config-option"],
  });
  const [verb, ...rest] = options.operands;
  if (verb === undefined || has(options, "help", "h")) return undefined;
  if (verb.text === "revert")
    return danger("git.svn-revert", "throws away changes that are not committed", verb);
  if (
    /^(?:delete|del|remove|rm)$/.test(verb.text) &&
    (has(options, "force") || rest.some(({ text }) => /^[a-z+]+:\/\//i.test(text)))
  )
    return danger("git.svn-delete", "deletes files from the repository", verb);
  if (verb.text === "cleanup" && has(options, "remove-unversioned", "remove-ignored"))
    return danger("git.svn-cleanup", "deletes files that are not versioned", verb);
  return undefined;
};

const hg = verbRule({
  family: "git",
  taking: ["R", "repository", "cwd", "config", "r", "rev", "m", "message", "b", "B"],
  dry: ["n", "dry-run"],
  verbs: [
    { path: "strip|rollback|obliterate", reason: "drops commits" },
    {
      path: "purge|clean",
      reason: "deletes files that are not tracked",
      when: (call) => !has(call, "p", "print"),
    },
    {
      path: "update|up|checkout|co|goto",
      reason: "throws away changes that are not committed",
      when: (call) => has(call, "C", "clean"),
    },
    { path: "revert", reason: "throws away changes that are not committed" },
    { path: "push", reason: "overwrites history on the remote", when: (call) => has(call, "f", "force") },
  ],
});

const hgSettings: Rule = (command) => {
  const options = parseOptions(command.args, {
    taking: ["R", "repository", "cwd", "config", "r", "rev", "m"],
  });
  const setting = valuesOf(options, "config").find(({ text }) =>
    /^(?:hooks|alias|extensions|ui\.(?:ssh|editor|merge)|merge-tools|auth)\b/i.test(text),
  );
  return setting === undefined ? hg(command) : danger("git.setting", "makes hg run a program", setting);
};

/** Hosting services and the other version-control programs. */
export const FORGES: Readonly<Record<string, Rule>> = {
  ...forPrograms(["gh", "glab", "hub", "tea"], forge),
  svn,
  hg: hgSettings,
  jj: verbRule({
    family: "git",
    taking: ["R", "repository", "r", "revision", "m"],
    verbs: [
      { path: "abandon|restore", reason: "throws away work" },
      { path: "op|operation abandon|restore", reason: "throws away work" },
      { path: "git push", reason: "deletes branches on the remote", when: (call) => has(call, "deleted") },
    ],
  }),
  fossil: verbRule({ family: "git", verbs: [{ path: "revert|purge|scrub", reason: "throws away work" }] }),
  bzr: verbRule({
    family: "git",
    verbs: [{ path: "revert|uncommit|clean-tree", reason: "throws away work" }],
  }),
  p4: verbRule({
    family: "git",
    taking: ["p", "u", "c", "P"],
    verbs: [{ path: "revert|obliterate|clean", reason: "throws away work" }],
  }),
  "git-filter-repo": (command) =>
    command.args.some(({ text }) => /^--(?:analyze|dry-run|help)$/.test(text))
      ? undefined
      : danger("git.filter-repo", "rewrites history others may have"),
  bfg: () => danger("git.filter-repo", "rewrites history others may have"),
};
