import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { askIfHeard } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import type { MemoryContent, MemoryOperation, MemoryTarget } from "../../tool/host-capabilities.js";
import { mark } from "../../tool/marked-text.js";

const MAX_OPERATIONS = 50;

export default defineTool({
  name: "memory",
  toolset: "memory",
  emoji: "🧠",
  description:
    "Remember what later conversations should know: target user for the person (name, wishes, habits), memory for " +
    "your own notes (places, conventions, lessons). Short facts, no progress of tasks, no secrets. It is on disk at " +
    "once and in the prompt from the next conversation on. When it is full, replace or remove first; operations does " +
    "several at once, all or none.",
  parameters: {
    type: "object",
    properties: {
      target: { type: "string", enum: ["memory", "user"] },
      action: { type: "string", enum: ["add", "replace", "remove"] },
      content: { type: "string", description: "The entry, for add and replace." },
      old_text: {
        type: "string",
        description: "The entry, or a part that only it holds, for replace and remove.",
      },
      operations: {
        type: "array",
        maxItems: MAX_OPERATIONS,
        description: "Instead of action.",
        items: {
          type: "object",
          properties: {
            action: { type: "string", enum: ["add", "replace", "remove"] },
            content: { type: "string" },
            old_text: { type: "string" },
          },
          required: ["action"],
        },
      },
    },
    required: ["target"],
    additionalProperties: false,
  },
  examples: [
    {
      title: "Note something about the person",
      arguments: { target: "user", action: "add", content: "Prefers short answers." },
      result: { success: true, target: "user", entries: ["Prefers short answers."] },
    },
    {
      title: "Make room and add in one step",
      before: [
        {
          name: "memory",
          arguments: { target: "memory", action: "add", content: "The build takes 4 minutes." },
        },
      ],
      arguments: {
        target: "memory",
        operations: [
          { action: "remove", old_text: "build takes" },
          { action: "add", content: "Tests: npm test -- test/call" },
        ],
      },
      result: { success: true, entries: ["Tests: npm test -- test/call"] },
    },
  ],
  permissions: ["memory:write"],
  effects: (args, { heard = [] }) => [
    {
      action: "memory:write",
      resource: args.target,
      mode: "write",
      detail: givenIn(args).map(inWords).join("\n"),
      lock: { name: `memory:${args.target}`, shared: false },
      reversible: true,
      ...askIfHeard(heard),
    },
  ],
  host: "memory",

  async handler(args, ctx): Promise<MemoryToolResult> {
    const { memory } = ctx.host;
    if (memory === undefined) {
      throw new ToolError("memory needs an agent loop that keeps it.", { code: "unavailable" });
    }
    const operations = givenIn(args).map(operationOf);
    const before = await memory.read(args.target);
    const after = await memory.change({ target: args.target, operations, heard: ctx.session.heard });
    return told(args.target, before, after);
  },

  present: (out) => ({
    model: [text(JSON.stringify(out))],
    human: [
      `${out.message} ${mark.dim(`${out.target}, ${out.usage}`)}`,
      ...out.entries.map((entry) => `- ${entry}`),
    ].join("\n"),
  }),
});

export interface MemoryToolResult {
  readonly success: true;
  readonly target: MemoryTarget;
  readonly entries: readonly string[];
  readonly usage: string;
  readonly message: string;
}

interface GivenOperation {
  readonly action?: string | undefined;
  readonly content?: string | undefined;
  readonly old_text?: string | undefined;
}

function givenIn(
  args: GivenOperation & { readonly operations?: readonly GivenOperation[] | undefined },
): readonly GivenOperation[] {
  return args.operations !== undefined && args.operations.length > 0 ? args.operations : [args];
}

function operationOf({ action, content, old_text: oldText }: GivenOperation): MemoryOperation {
  if (action === "add" && content !== undefined) return { action, content };
  if (action === "replace" && content !== undefined && oldText !== undefined)
    return { action, oldText, content };
  if (action === "remove" && oldText !== undefined) return { action, oldText };
  const needed: Readonly<Record<string, string>> = {
    add: "add needs content",
    replace: "replace needs old_text and content",
    remove: "remove needs old_text",
  };
  throw new ToolError(
    `${needed[action ?? ""] ?? "action is missing: add, replace or remove"}; nothing was changed.`,
    {
      code: "invalid_arguments",
    },
  );
}

/** For the person who is asked; what is wrong with it is said when it runs. */
function inWords({ action, content = "", old_text: oldText = "" }: GivenOperation): string {
  if (action === "remove") return `forget: ${oldText}`;
  return action === "replace" ? `instead of ${oldText}: ${content}` : `remember: ${content}`;
}

function told(target: MemoryTarget, before: MemoryContent, after: MemoryContent): MemoryToolResult {
  const { entries, usedChars, maxChars } = after;
  const isSame = JSON.stringify(before.entries) === JSON.stringify(entries);
  return {
    success: true,
    target,
    entries,
    usage: `${usedChars}/${maxChars} chars`,
    message: isSame ? "It was there already; nothing was changed." : "Written; later conversations know it.",
  };
}
