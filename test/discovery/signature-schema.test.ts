import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { tempDir, testRuntime } from "../support/runtime.js";

async function loaded(files: Readonly<Record<string, string>>) {
  const home = tempDir();
  mkdirSync(join(home, "tools"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, "tools", name), text);
  const { runtime } = await testRuntime([], { home, userTools: true });
  await runtime.sources.settled();
  return { runtime, home };
}

const IMPORT = 'import { tool, type CallContext } from "hermes-tools";\n';

describe("@tool without parameters", () => {
  it("takes the schema from the signature and the comment, and calls with the arguments in place", async () => {
    const { runtime } = await loaded({
      "weather.ts": `${IMPORT}
interface Place {
  /** Two letters */
  country: string;
  zip?: string;
}
type Unit = "celsius" | "fahrenheit";
export class Weather {
  /**
   * Weather of the coming days
   * @param city - Name of the city
   */
  @tool({ timeoutSeconds: 15 })
  forecast(city: string, days: number = 3, unit: Unit = "celsius", tags?: readonly string[], place?: Place, ctx?: CallContext) {
    return { said: [city, days, unit, tags ?? "none", place?.country ?? "none", typeof ctx?.signal].join(" ") };
  }
}`,
    });
    expect(runtime.registry.get("forecast")).toMatchObject({
      description: "Weather of the coming days",
      parameters: {
        type: "object",
        required: ["city"],
        properties: {
          city: { type: "string", description: "Name of the city" },
          days: { type: "number", default: 3 },
          unit: { type: "string", enum: ["celsius", "fahrenheit"], default: "celsius" },
          tags: { type: "array", items: { type: "string" } },
          place: {
            type: "object",
            required: ["country"],
            properties: { country: { type: "string", description: "Two letters" }, zip: { type: "string" } },
          },
        },
      },
    });
    const session = await runtime.openSession();
    const done = await session.call({
      name: "forecast",
      arguments: { city: "Bern", place: { country: "CH" } },
    });
    expect(done.structured).toEqual({ said: "Bern 3 celsius none CH object" });
    expect(
      (await session.call({ name: "forecast", arguments: { city: "Bern", unit: "kelvin" } })).error?.code,
    ).toBe("invalid_arguments");
  });

  it("takes one object too, with defaults where it is taken apart, from a helper and a parent class", async () => {
    const { runtime } = await loaded({
      "helper.ts": `${IMPORT}
export interface Named { name: string }
interface Greeting extends Named { loud?: boolean; times?: 1 | 2; extra?: Record<string, number | null> }
export class Base {
  /** Greet somebody */
  @tool()
  greet({ name, loud = false }: Greeting, ctx: CallContext) {
    return { text: (loud ? name.toUpperCase() : name) + (ctx.signal.aborted ? "" : "!") };
  }
}`,
      "greet.ts":
        'import { Base } from "./helper.js";\nimport { tool } from "hermes-tools";\nexport class Mine extends Base { @tool({ description: "Nothing" }) idle() { return "idle"; } }',
    });
    expect(runtime.registry.get("greet")?.parameters).toEqual({
      type: "object",
      required: ["name"],
      properties: {
        name: { type: "string" },
        loud: { type: "boolean", default: false },
        times: { type: "number", enum: [1, 2] },
        extra: {
          type: "object",
          additionalProperties: { anyOf: [{ type: "number" }, { type: "null", enum: [null] }] },
        },
      },
    });
    expect(runtime.registry.get("idle")?.parameters).toEqual({ type: "object", properties: {} });
    const session = await runtime.openSession();
    expect((await session.call({ name: "greet", arguments: { name: "you" } })).structured).toEqual({
      text: "you!",
    });
  });

  it.each([
    ["a type of another place", "when: Date", 5, "the type Date"],
    ["no type at all", "when", 5, "when, which has no type,"],
    ["a type that names itself", "when: Tree", 3, "Tree"],
    ["a list of unknown length", "...when: string[]", 5, "the parameter when"],
  ])("says file, line and what to write for %s", async (_what, parameter, line, words) => {
    const { runtime, home } = await loaded({
      "bad.ts": `${IMPORT.trim()}
export class Bad {

  @tool({ description: "d" })
  at(other: string, ${parameter}) { return other; }
}
interface Tree { inner: Tree }`,
    });
    const [status] = runtime.sources.status().filter(({ source }) => source.endsWith("bad.ts"));
    expect(status).toMatchObject({ state: "failed", source: `module:${join(home, "tools", "bad.ts")}` });
    expect(status?.reason).toContain(words);
    expect(status?.reason).toContain("or give @tool({ parameters })");
    if (line === 5) expect(status?.reason).toContain(`line ${line}:`);
  });

  it("an option that is none is refused, and the spelling of the source documents is taken", async () => {
    const { runtime } = await loaded({
      "typo.ts": `${IMPORT}export class A { @tool({ descripton: "d" }) a() { return 1; } }`,
      "snake.ts": `${IMPORT}export class B { @tool({ description: "d", timeout_seconds: 2 }) b() { return 1; } }`,
    });
    const [status] = runtime.sources.status().filter(({ source }) => source.endsWith("typo.ts"));
    expect(status?.reason).toContain('did you mean "description"');
    expect(runtime.registry.get("b")?.tool?.timeoutMs).toBe(2_000);
  });

  it("who asks for the tools before the source was read is told what is missing", async () => {
    const { runtime } = await loaded({
      "early.ts": `${IMPORT}import { toolsOf } from "hermes-tools";
class Here { @tool() here(a: string) { return a; } }
export default toolsOf(new Here());`,
    });
    const [status] = runtime.sources.status();
    expect(status?.reason).toMatch(/The tool here of Here has no parameters.*write @tool\(\{ parameters/);
  });
});
