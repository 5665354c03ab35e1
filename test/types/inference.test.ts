import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { BaseTool, defineTool, type FromSchema, textOf, tool } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";

// The type assertions are checked by `tsc --noEmit`, which is part of the suite.
describe("argument types", () => {
  it("come from a JSON-Schema literal", () => {
    defineTool({
      name: "typed",
      description: "",
      parameters: {
        type: "object",
        properties: {
          text: { type: "string" },
          count: { type: "integer", default: 3 },
          flag: { type: "boolean" },
          mode: { enum: ["fast", "slow"] },
          list: { type: "array", items: { type: "number" } },
          nested: { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
          maybe: { type: ["string", "null"] },
          either: { anyOf: [{ type: "string" }, { type: "number" }] },
          headers: { type: "object", additionalProperties: { type: "string" } },
          fixed: { const: 7 },
        },
        required: ["text", "mode"],
      },
      handler(args) {
        expectTypeOf(args.text).toEqualTypeOf<string>();
        expectTypeOf(args.count).toEqualTypeOf<number>();
        expectTypeOf(args.flag).toEqualTypeOf<boolean | undefined>();
        expectTypeOf(args.mode).toEqualTypeOf<"fast" | "slow">();
        expectTypeOf(args.list).toEqualTypeOf<number[] | undefined>();
        expectTypeOf(args.nested).toEqualTypeOf<{ a: string } | undefined>();
        expectTypeOf(args.maybe).toEqualTypeOf<string | null | undefined>();
        expectTypeOf(args.either).toEqualTypeOf<string | number | undefined>();
        expectTypeOf(args.headers).toEqualTypeOf<{ [key: string]: string } | undefined>();
        expectTypeOf(args.fixed).toEqualTypeOf<7 | undefined>();
        // @ts-expect-error: not in the schema
        args.missing;
        return "x";
      },
    });
    expectTypeOf<FromSchema<{ type: "string" }>>().toEqualTypeOf<string>();
  });

  it("come from the output side of zod, valibot and arktype", () => {
    defineTool({
      name: "zodded",
      description: "",
      parameters: z.object({
        n: z.number().default(1),
        when: z.string().transform((text) => new Date(text)),
      }),
      handler(args) {
        expectTypeOf(args).toEqualTypeOf<{ n: number; when: Date }>();
        return "x";
      },
    });
    defineTool({
      name: "valibotted",
      description: "",
      parameters: toStandardJsonSchema(v.object({ s: v.string(), o: v.optional(v.number()) })),
      handler(args) {
        expectTypeOf(args.s).toEqualTypeOf<string>();
        expectTypeOf(args.o).toEqualTypeOf<number | undefined>();
        return "x";
      },
    });
    defineTool({
      name: "arktyped",
      description: "",
      parameters: type({ s: "string", "n?": "number.integer" }),
      handler(args) {
        expectTypeOf(args.s).toEqualTypeOf<string>();
        return "x";
      },
    });
  });

  it("bind a decorated method and a BaseTool's run", () => {
    const parameters = { type: "object", properties: { a: { type: "string" } }, required: ["a"] } as const;
    class Good extends BaseTool<typeof parameters> {
      readonly name = "good";
      readonly description = "";
      readonly parameters = parameters;
      run(args: { a: string }) {
        return args.a;
      }
    }
    class Bad extends BaseTool<typeof parameters> {
      readonly name = "bad";
      readonly description = "";
      readonly parameters = parameters;
      // @ts-expect-error: `a` is a string
      run(args: { a: number }) {
        return args.a;
      }
    }
    expect(new Good().name).toBe("good");
    expect(new Bad().name).toBe("bad");
    const decorate = tool({ description: "", parameters });
    expectTypeOf(decorate).toBeCallableWith(
      (_args: { a: string }) => "x",
      {} as ClassMethodDecoratorContext<object, (this: object, args: { a: string }) => string>,
    );
  });
});

describe("Standard Schemas at run time", () => {
  it.each([
    ["zod", z.object({ n: z.number().int().min(2), s: z.string().default("d") })],
    [
      "valibot",
      toStandardJsonSchema(
        v.object({ n: v.pipe(v.number(), v.integer(), v.minValue(2)), s: v.optional(v.string(), "d") }),
      ),
    ],
    ["arktype", type({ n: "number.integer >= 2", s: "string = 'd'" })],
  ])("%s: coerced, checked, defaulted", async (_name, parameters) => {
    const subject = defineTool({
      name: "s",
      description: "",
      parameters: parameters as z.ZodType,
      handler: (args) => JSON.stringify(args),
    });
    const { runtime } = await testRuntime([subject]);
    const session = await runtime.openSession();
    const good = await session.call({ name: "s", arguments: { n: "5" } });
    expect(JSON.parse(textOf(good.content))).toEqual({ n: 5, s: "d" });
    const bad = await session.call({ name: "s", arguments: { n: 1 } });
    expect(bad.error?.code).toBe("invalid_arguments");
    expect(bad.error?.message).toContain("n");
  });

  it("refinements and transforms run, sync or async, and their issues name the path", async () => {
    const parameters = z
      .object({ from: z.string(), to: z.string() })
      .refine(async ({ from, to }) => from <= to, { message: "wrong order", path: ["to"] })
      .transform(({ from, to }) => ({ span: `${from}-${to}` }));
    const subject = defineTool({ name: "s", description: "", parameters, handler: ({ span }) => span });
    const { runtime } = await testRuntime([subject]);
    const session = await runtime.openSession();
    expect(textOf((await session.call({ name: "s", arguments: { from: "a", to: "b" } })).content)).toBe(
      "a-b",
    );
    const bad = await session.call({ name: "s", arguments: { from: "b", to: "a" } });
    expect(bad.error?.message).toContain("/to: wrong order");
  });

  it("one that cannot describe itself is refused with advice", () => {
    expect(() =>
      defineTool({ name: "s", description: "", parameters: v.object({ s: v.string() }), handler: () => "x" }),
    ).toThrow(/toStandardJsonSchema/);
  });
});
