import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { AgentEvent, AgentResult } from "../../src/agent/events.js";
import type { ScriptedModel } from "../support/scripted-model/server.js";

/** What a person says and answers, what a model does (`scenarios/NAME.yaml`), and what must have become of it. */
export interface Story {
  readonly scenario: string;
  readonly say: string;
  /** In the working folder. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** `config.yaml`; `{cwd}` is the working folder. */
  readonly settings?: string;
  /** In the order of the questions; a text refuses, and is the reason. */
  readonly answers?: readonly ("once" | { readonly deny: string })[];
  readonly maxTurns?: number;
  check(told: Told): void;
}

export interface Told {
  readonly result: Omit<AgentResult, "type">;
  readonly events: readonly AgentEvent[];
  readonly server: ScriptedModel;
  readonly cwd: string;
  readonly provider: string;
}

const long = (about: string) => `${about} ${"and so on, ".repeat(1_500)}`;

const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

const SHOP = `tools:
  - name: shop_refund
    description: Pays the price of an order back to the customer.
    toolset: shop
    type: command
    command: ["echo", "refunded {{order}}"]
    parameters: [{ name: order, type: string, required: true }]
`;

export const STORIES: Readonly<Record<string, Story>> = {
  "research, then write a file": {
    scenario: "research-and-write",
    say: "Find out about the wool of llamas and write it down",
    settings: "web: { search_engine: local, local_folder: '{cwd}/library' }",
    files: {
      "library/llamas.txt": "The wool of a llama has five layers.",
      "library/cats.txt": "Cats have no wool.",
    },
    check({ result, cwd }) {
      expect(result).toMatchObject({ text: "It is in notes/llamas.md.", stop: "end", turns: 4 });
      expect(readFileSync(join(cwd, "notes/llamas.md"), "utf8")).toContain("five layers");
    },
  },

  "edit, test, fix": {
    scenario: "edit-test-fix",
    say: "Make the test pass",
    files: {
      "sum.mjs": "export const sum = (left, right) => left - right;\n",
      "check.mjs":
        'import { sum } from "./sum.mjs";\nconsole.log(sum(2, 2) === 4 ? "all is well" : `2 + 2 is ${sum(2, 2)}`);\n',
    },
    check({ result, cwd }) {
      expect(result).toMatchObject({ stop: "end", turns: 5 });
      expect(result.tool_calls.map(({ name, ok }) => [name, ok])).toEqual([
        ["terminal", true],
        ["read_file", true],
        ["patch", true],
        ["terminal", true],
      ]);
      expect(readFileSync(join(cwd, "sum.mjs"), "utf8")).toContain("left + right");
    },
  },

  "delegate to three children": {
    scenario: "delegate-three",
    say: "Write it in three parts",
    check({ result, cwd, server }) {
      expect(result).toMatchObject({ text: "Two parts are written, the third is not.", stop: "end" });
      expect(["one.txt", "two.txt", "three.txt"].map((name) => existsSync(join(cwd, name)))).toEqual([
        true,
        true,
        false,
      ]);
      // What the children asked is in the server's books, each with its own tools.
      expect(server.requests).toHaveLength(8);
      const ofChildren = server.requests.filter(({ tools }) => !tools.includes("delegate_task"));
      expect(ofChildren).toHaveLength(6);
      const third = ofChildren.filter(({ messages }) => JSON.stringify(messages).includes("part three"));
      for (const { tools } of third) expect(tools).not.toContain("write_file");
    },
  },

  "approval asked, denied, changed": {
    scenario: "approval",
    say: "Clean up",
    files: { "build/old/a.txt": "a", "build/new/b.txt": "b" },
    answers: [{ deny: "only the old one" }, "once"],
    check({ result, events, cwd }) {
      expect(result.tool_calls).toMatchObject([
        { id: "all", ok: false, error: { code: "denied" } },
        { id: "less", ok: true },
      ]);
      expect(events.filter(({ type }) => type === "approval")).toHaveLength(2);
      expect(existsSync(join(cwd, "build/old"))).toBe(false);
      expect(existsSync(join(cwd, "build/new/b.txt"))).toBe(true);
    },
  },

  "search for a tool, then call it": {
    scenario: "tool-search",
    say: "Pay order A-17 back",
    settings: "tools: { tool_search: { enabled: on } }",
    files: { "../home/tools/shop.yaml": SHOP },
    check({ result, server }) {
      expect(result.text).toBe("Order A-17 is paid back.");
      const offered = server.requests.map(({ tools }) => tools.join());
      expect(offered[0]).not.toContain("shop_refund");
      expect(new Set(offered).size).toBe(1);
    },
  },

  "more than the model can read": {
    scenario: "context-overflow",
    say: "Compare the three files",
    files: { "one.txt": long("apples"), "two.txt": long("pears"), "three.txt": long("plums") },
    check({ result, events, server, cwd }) {
      expect(result).toMatchObject({ text: "It is in all.txt.", stop: "end" });
      expect(existsSync(join(cwd, "all.txt"))).toBe(true);
      expect(JSON.stringify(events)).toContain("summarised to make room");
      const after = server.requests.at(-1);
      // What the person wanted is still there, as it was said; what was read first is not.
      expect(JSON.stringify(after?.messages)).toContain("Compare the three files");
      expect(JSON.stringify(after?.messages)).not.toContain(long("apples"));
      expect(server.account.total.requests).toBe(result.usage.requests);
    },
  },

  "a model that talks nonsense": {
    scenario: "nonsense",
    say: "Go",
    check({ result, cwd }) {
      expect(result).toMatchObject({ text: "All of them are written.", stop: "end", turns: 3 });
      expect(result.tool_calls).toHaveLength(204);
      expect(result.tool_calls.filter(({ ok }) => ok)).toHaveLength(200);
      expect(new Set(result.tool_calls.map(({ id }) => id)).size).toBe(204);
      expect(readdirSync(join(cwd, "many"))).toHaveLength(200);
      expect(readFileSync(join(cwd, "many", "137.txt"), "utf8")).toBe("137");
    },
  },

  "a call that is cut off": {
    scenario: "cut-off-call",
    say: "Write a long text",
    check({ result, cwd, events }) {
      expect(result).toMatchObject({ text: "Written.", stop: "end" });
      expect(readFileSync(join(cwd, "long.txt"), "utf8")).toBe("short");
      expect(events.filter(({ type }) => type === "tool_use")).toHaveLength(1);
    },
  },

  "the same call for ever": {
    scenario: "endless",
    say: "Go",
    maxTurns: 12,
    check({ result, server }) {
      expect(["max_turns", "error"]).toContain(result.stop);
      expect(server.requests.length).toBeLessThanOrEqual(12);
    },
  },

  "the same failure for ever": {
    scenario: "stuck",
    say: "Go",
    check({ result, server }) {
      expect(result).toMatchObject({ stop: "error", turns: 3 });
      expect(server.requests).toHaveLength(3);
    },
  },

  "a picture in a result": {
    scenario: "picture",
    say: "What is on dot.png?",
    files: { "dot.png": DOT },
    check({ result, server, provider }) {
      expect(result.text).toBe("It is one dot.");
      const told = server.requests[1]?.messages.find(({ role }) => role === "tool");
      expect(told?.images).toBe(provider === "anthropic" ? 1 : 0);
    },
  },

  "parallel calls": {
    scenario: "parallel",
    say: "Go",
    check({ result, server, cwd }) {
      expect(result.tool_calls.map(({ ok }) => ok)).toEqual([true, true, true, true, true]);
      expect(readFileSync(join(cwd, "list.txt"), "utf8")).toBe("two\n");
      const told = server.requests[1]?.messages.filter(({ role }) => role === "tool") ?? [];
      expect(told.map(({ answers }) => answers)).toEqual(["slow", "first", "then", "look", "other"]);
      expect(told[3]?.text).toContain("two");
    },
  },
};
