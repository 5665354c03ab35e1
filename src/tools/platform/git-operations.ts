import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { locate } from "../files/paths.js";
import {
  ACTIONS,
  type GitArguments,
  OPERATIONS,
  onlyReads,
  operationOf,
  problemWith,
  usesNetwork,
} from "./git/arguments.js";
import { gitEffects } from "./git/effects.js";
import { humanText } from "./git/present.js";
import { CHANGE_TIMEOUT_MS } from "./git/run.js";

export interface GitOutput {
  readonly action: string;
  readonly repo: string;
  readonly [field: string]: unknown;
}

const name = { type: "string", minLength: 1, maxLength: 1_000 } as const;

export default defineTool({
  name: "git_operations",
  toolset: "git",
  emoji: "🌿",
  description:
    "Work with a git repository; structured answers. branch, tag, stash and remote have operations (list, create, " +
    "delete …). Hooks of the repository run.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: [...ACTIONS] },
      operation: { type: "string", enum: [...OPERATIONS] },
      repo: { type: "string", default: "." },
      paths: { type: "array", items: { type: "string", minLength: 1 }, maxItems: 1_000 },
      message: { type: "string", minLength: 1, maxLength: 100_000 },
      branch: name,
      ref: { ...name, description: "Commit, range (a..b), stash@{0}; COMMIT:file for show" },
      tag: name,
      remote: { ...name, description: "Name of a remote" },
      url: { type: "string", minLength: 1, maxLength: 2_000 },
      path: { ...name, description: "Where to clone to" },
      lines: { type: "string", pattern: "^\\d+[,-]\\d+$", description: "10,20 for blame" },
      limit: { type: "integer", minimum: 1, maximum: 500, default: 20 },
      depth: { type: "integer", minimum: 1 },
      all: {
        type: "boolean",
        description: "add/commit: all changes; stash: untracked too; log: all branches; fetch/push: tags",
      },
      staged: { type: "boolean" },
      create: { type: "boolean", description: "checkout: a new branch" },
      force: { type: "boolean" },
      amend: { type: "boolean" },
      rebase: { type: "boolean" },
    },
    required: ["action"],
    additionalProperties: false,
  },
  permissions: ["git:read", "git:write", "file:read", "file:write", "network:fetch", "network:write"],
  effects: gitEffects,
  secretsIn: ({ url }) => passwordIn(url),
  needs: { environment: true, programs: ["git"], fix: "apt-get install git" },
  timeoutMs: (args) => (onlyReads(args) ? 180_000 : CHANGE_TIMEOUT_MS + 60_000),

  async handler(args, ctx): Promise<GitOutput> {
    const problem = problemWith(args);
    if (problem !== undefined)
      throw new ToolError(`This cannot be done: ${problem}.`, {
        code: "invalid_arguments",
        hint: "Names, references and addresses are plain values; options of git are not passed on.",
      });
    if (args.action === "clone") {
      const { clone } = await import("./git/network-actions.js");
      const cloned = await clone(args, ctx);
      return { action: args.action, repo: cloned.path, ...cloned };
    }
    const { path, real } = await locate(args.repo, ctx);
    return { action: args.action, repo: path, ...(await answer(args, { folder: real, ctx })) };
  },

  untrustedSource: (args, out) => (usesNetwork(args) && typeof out.url === "string" ? out.url : undefined),

  present: (out) => ({ model: [text(JSON.stringify(out))], human: humanText(out) }),

  examples: [
    {
      title: "What has changed",
      programs: ["git"],
      files: { "notes.txt": "one\n" },
      before: [{ name: "terminal", arguments: { command: "git init -q -b main" } }],
      arguments: { action: "status" },
      result: { branch: "main", clean: false, files: [{ path: "notes.txt", state: "untracked" }] },
    },
    {
      title: "Commit a file",
      programs: ["git"],
      files: { "notes.txt": "one\n" },
      before: [
        {
          name: "terminal",
          arguments: {
            command:
              "git init -q -b main && git config user.name Ada && git config user.email ada@example.org",
          },
        },
      ],
      arguments: { action: "commit", paths: ["notes.txt"], message: "Begin" },
      result: { branch: "main", author: "Ada", message: "Begin", files: [{ path: "notes.txt", added: 1 }] },
    },
  ],
});

function passwordIn(url: string | undefined): Readonly<Record<string, string>> {
  const [, password] = /^[\w+.-]+:\/\/[^/@:]*:([^/@]+)@/.exec(url ?? "") ?? [];
  return password === undefined ? {} : { "password in url": password };
}

async function answer(
  args: GitArguments,
  named: { readonly folder: string; readonly ctx: CallContext },
): Promise<Readonly<Record<string, unknown>>> {
  if (onlyReads(args)) return look(args, named);
  const change = await import("./git/change-actions.js");
  const place = await change.openedForChanges(named);
  if (usesNetwork(args)) {
    const network = await import("./git/network-actions.js");
    if (args.action === "fetch") return network.fetchRefs(args, place);
    return args.action === "pull" ? network.pull(args, place) : network.push(args, place);
  }
  const operation = operationOf(args);
  const rest = operation === undefined ? {} : { operation };
  switch (args.action) {
    case "add":
      return change.add(args, place);
    case "commit":
      return change.commit(args, place);
    case "checkout":
      return change.checkout(args, place);
    case "merge":
      return { ...rest, ...(await change.merge(args, place)) };
    case "branch":
      return { ...rest, ...(await change.branch(args, place)) };
    case "tag":
      return { ...rest, ...(await change.tag(args, place)) };
    case "stash":
      return { ...rest, ...(await change.stash(args, place)) };
    default:
      return { ...rest, ...(await change.remote(args, place)) };
  }
}

async function look(
  args: GitArguments,
  place: { readonly folder: string; readonly ctx: CallContext },
): Promise<Readonly<Record<string, unknown>>> {
  const [read, lists] = await Promise.all([import("./git/read-actions.js"), import("./git/lists.js")]);
  switch (args.action) {
    case "status":
      return { ...(await read.status(args, place)) };
    case "log":
      return read.log(args, place);
    case "diff":
      return { ...(await read.diff(args, place)) };
    case "show":
      return read.show(args, place);
    case "blame":
      return read.blame(args, place);
    case "branch":
      return lists.listBranches(place);
    case "tag":
      return lists.listTags(place);
    case "stash":
      return lists.listStashes(place);
    default:
      return lists.listRemotes(place);
  }
}
