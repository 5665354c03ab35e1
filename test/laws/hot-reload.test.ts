import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ApprovalRequest, type CallResult, defineTool, textOf } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { testRuntime } from "../support/runtime.js";

const SOURCE = { source: "module:/tools/versioned.js", provenance: { kind: "home" } } as const;

/** One version of a tool, and what became of it. */
class Version {
  readonly number: number;
  readonly tool: AnyTool;
  running = 0;
  isDisposed = false;
  wasTorn = false;

  constructor(number: number) {
    this.number = number;
    this.tool = defineTool({
      name: "versioned",
      toolset: "reloaded",
      description: `version ${number}`,
      parameters: {
        type: "object",
        properties: { call: { type: "integer" }, asks: { type: "boolean" } },
        required: ["call"],
      },
      permissions: ["file:read"],
      effects: ({ asks }, { cwd }) => [
        {
          action: "file:read",
          resource: `${cwd}/a`,
          mode: "read",
          ...(asks === true && { ask: { reason: "asked in the test" } }),
        },
      ],
      handler: async ({ call }) => {
        this.running += 1;
        this.wasTorn ||= this.isDisposed;
        await gates.get(call)?.opened;
        this.wasTorn ||= this.isDisposed;
        this.running -= 1;
        return String(this.number);
      },
      dispose: () => {
        this.isDisposed = true;
        this.wasTorn ||= this.running > 0;
      },
    }) as AnyTool;
  }
}

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}
const gates = new Map<number, Gate>();

function gate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("call" as const), asks: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("reload" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("finish" as const), which: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("approve" as const), which: fc.nat(20) }) },
);

/** Lets everything happen that does not wait for a gate or a person. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("law 9: hot reload never touches a running call", () => {
  it("each call ends with the version it began with, which is freed only after it", async () => {
    const { runtime, registry } = await testRuntime();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        gates.clear();
        const versions = [new Version(0)];
        let standing: Version | undefined = versions[0];
        const install = () =>
          registry.swap({ ...SOURCE, tools: standing === undefined ? [] : [standing.tool] });
        install();
        const questions: { answer(): void }[] = [];
        let isOver = false;
        const approver = {
          ask: (_request: ApprovalRequest) =>
            new Promise<"once">((resolve) => {
              if (isOver) resolve("once");
              else questions.push({ answer: () => resolve("once") });
            }),
        };
        const session = await runtime.openSession({ approver });
        const calls: { began: Version | undefined; result: Promise<CallResult> }[] = [];
        for (const each of steps) {
          if (each.do === "call") {
            const id = calls.length;
            gates.set(id, gate());
            const result = session.call({
              name: "versioned",
              arguments: { call: id, ...(each.asks && { asks: true }) },
            });
            calls.push({ began: standing, result });
          } else if (each.do === "reload") {
            standing = new Version(versions.length);
            versions.push(standing);
            install();
          } else if (each.do === "remove") {
            standing = undefined;
            install();
          } else if (each.do === "finish") gates.get(each.which)?.open();
          else questions[each.which]?.answer();
          await turn();
        }
        for (const { open } of gates.values()) open();
        isOver = true;
        for (const question of questions) question.answer();
        const results = await Promise.all(calls.map(({ result }) => result));
        calls.forEach(({ began }, index) => {
          const result = results[index];
          if (began === undefined) expect(result?.error?.code).toBe("unavailable");
          else expect(result?.ok === true && textOf(result.content)).toBe(String(began.number));
        });
        standing = undefined;
        install();
        expect(versions.filter(({ wasTorn }) => wasTorn)).toEqual([]);
        expect(versions.filter(({ isDisposed }) => !isDisposed)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});
