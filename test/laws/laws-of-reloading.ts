import { setTimeout as wait } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ApprovalRequest,
  type CallResult,
  defineTool,
  type ToolRegistry,
  textOf,
} from "../../src/index.js";
import type { Runtime } from "../../src/runtime/runtime.js";
import type { AnyTool } from "../../src/tool/tool.js";

const SOURCE = { source: "module:/tools/versioned.js", provenance: { kind: "home" } } as const;

/** A runtime and every machine that has its tools. */
export interface Machines {
  readonly runtime: Runtime;
  /** Of each machine; where handlers run comes last. */
  readonly registries: readonly ToolRegistry[];
  /** Resolves when the machines know that the one where handlers run has this tool. */
  knows?(tool: string): Promise<void>;
}

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

function gate(): Gate {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open: () => open() };
}

/** One call, as the test follows it: told by the tool that it runs, and by the person that it waits for them. */
class Followed {
  readonly gate = gate();
  readonly begun = gate();
  readonly asked = gate();
  readonly ranOn: Version[] = [];
  /** What stood when it was made. */
  readonly standing: number | undefined;
  result!: Promise<CallResult>;

  constructor(standing: number | undefined) {
    this.standing = standing;
  }
}

/** One version of a tool on one machine, and what became of it. */
class Version {
  readonly tool: AnyTool;
  running = 0;
  isDisposed = false;
  wasTorn = false;

  constructor(
    readonly number: number,
    calls: readonly Followed[],
  ) {
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
        const followed = calls[call];
        this.running += 1;
        this.wasTorn ||= this.isDisposed;
        followed?.ranOn.push(this);
        followed?.begun.open();
        await followed?.gate.opened;
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

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("call" as const), asks: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("reload" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("remove" as const) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("finish" as const), which: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("approve" as const), which: fc.nat(20) }) },
);

/** Lets everything happen that does not wait for a gate, a person or another machine. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Held wherever handlers run; `elsewhere`: on another machine, where a call begins when it gets there. */
export function reloadLaws(
  open: (tools?: readonly AnyTool[]) => Promise<Machines>,
  { elsewhere, numRuns }: { readonly elsewhere: boolean; readonly numRuns: number },
): void {
  /** Exactly one version ran it, and no older one than stood when it was made; or none did, and it says so. */
  function holds(followed: Followed, result: CallResult, asked: boolean): void {
    const { standing, ranOn } = followed;
    const [version] = ranOn;
    expect(ranOn.length).toBeLessThanOrEqual(1);
    if (standing === undefined) expect(version).toBeUndefined();
    // What was taken away while a person was asked is not there any more when the call gets there.
    else if (!elsewhere || !asked) expect(version?.number).toBe(standing);
    else if (version !== undefined) expect(version.number).toBeGreaterThanOrEqual(standing);
    if (version === undefined) expect(result.error?.code).toBe("unavailable");
    else expect(result.ok === true && textOf(result.content)).toBe(String(version.number));
  }

  describe("law 9: hot reload never touches a running call", () => {
    it("each call ends with the version it began with, which is freed only after it", async () => {
      const { runtime, registries, knows } = await open();
      let ranElsewhere = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
          const calls: Followed[] = [];
          const versions: Version[] = [];
          const questions: { readonly call: Followed | undefined; answer(): void }[] = [];
          let count = 0;
          let standing: number | undefined;
          let isOver = false;
          const install = (number: number | undefined) => {
            standing = number;
            for (const registry of registries) {
              const version = number === undefined ? undefined : new Version(number, calls);
              if (version !== undefined) versions.push(version);
              registry.swap({ ...SOURCE, tools: version === undefined ? [] : [version.tool] });
            }
          };
          const approver = {
            ask: (request: ApprovalRequest) =>
              new Promise<"once">((resolve) => {
                const call = calls[Number(request.callId)];
                call?.asked.open();
                if (isOver) resolve("once");
                else questions.push({ call, answer: () => resolve("once") });
              }),
          };
          install(count);
          await knows?.("versioned");
          const session = await runtime.openSession({ approver });
          const asks: boolean[] = [];
          for (const each of steps) {
            if (each.do === "call") {
              const followed = new Followed(standing);
              const call = calls.push(followed) - 1;
              asks.push(each.asks);
              followed.result = session.call({
                id: String(call),
                name: "versioned",
                arguments: { call, ...(each.asks && { asks: true }) },
              });
              const { begun, asked, result } = followed;
              await Promise.race([begun.opened, asked.opened, result]);
            } else if (each.do === "reload") {
              count += 1;
              install(count);
            } else if (each.do === "remove") install(undefined);
            else if (each.do === "finish") calls[each.which]?.gate.open();
            else {
              const question = questions[each.which];
              question?.answer();
              await Promise.race([question?.call?.begun.opened, question?.call?.result]);
            }
            await turn();
          }
          isOver = true;
          for (const call of calls) call.gate.open();
          for (const question of questions) question.answer();
          const results = await Promise.all(calls.map(({ result }) => result));
          // Another one in its place, so that there is always one outside of a run.
          for (const registry of registries)
            registry.swap({ ...SOURCE, tools: [new Version(count + 1, calls).tool] });
          results.forEach((result, index) => {
            holds(calls[index] as Followed, result, asks[index] === true);
            if (result.worker !== undefined) ranElsewhere += 1;
          });
          expect(versions.filter(({ wasTorn }) => wasTorn)).toEqual([]);
          expect(versions.filter(({ isDisposed }) => !isDisposed)).toEqual([]);
        }),
        { numRuns },
      );
      expect(ranElsewhere > 0).toBe(elsewhere);
    });

    it("each call has one of the versions there were, however fast they follow each other", async () => {
      const versioned = (version: number) =>
        defineTool({
          name: "v",
          description: "tells its version",
          parameters: { type: "object" },
          handler: async () => {
            await wait(1);
            return String(version);
          },
        }) as AnyTool;
      const { runtime, registries } = await open([versioned(0)]);
      const session = await runtime.openSession();
      const pending: Promise<CallResult>[] = [];
      for (let version = 1; version <= 200; version += 1) {
        pending.push(session.call({ name: "v" }));
        registries.at(-1)?.add(versioned(version));
        if (version % 20 === 0) await wait(1);
      }
      for (const [index, result] of (await Promise.all(pending)).entries()) {
        const version = Number(textOf(result.content));
        if (elsewhere) expect(version).toBeGreaterThanOrEqual(index);
        else expect(version).toBe(index);
      }
    });
  });
}
