import { describe, expect, it } from "vitest";
import { builtinManifest } from "../../src/registry/builtin-manifest.gen.js";
import { definitionSchema } from "../../src/registry/definition-schema.js";
import { createDecoder } from "../../src/tool/decode.js";
import { UNTOLD } from "../../src/tool/json-schema.js";
import { testRuntime } from "../support/runtime.js";

describe("what a model is told of a built-in tool's parameters", () => {
  it("leaves out checks, not what bounds a choice", () => {
    const told = definitionSchema({
      type: "object",
      properties: {
        path: { type: "string", minLength: 1, pattern: "^/", description: "Where" },
        limit: { type: "integer", minimum: 1, maximum: 50, default: 5 },
        line: { type: "integer", minimum: 1 },
        force: { type: "boolean", default: false },
        git: { type: "boolean", default: true },
        kinds: { type: "array", maxItems: 9, items: { type: "string", enum: ["a", "b"], minLength: 1 } },
        seldom: { type: "string", [UNTOLD]: true },
        headers: { type: "object", additionalProperties: { type: "string", maxLength: 9 } },
      },
      required: ["path"],
      additionalProperties: false,
    });
    expect(told).toEqual({
      type: "object",
      properties: {
        path: { type: "string", description: "Where" },
        limit: { type: "integer", minimum: 1, maximum: 50, default: 5 },
        line: { type: "integer" },
        force: { type: "boolean" },
        git: { type: "boolean", default: true },
        kinds: { type: "array", items: { type: "string", enum: ["a", "b"] } },
        headers: { type: "object", additionalProperties: { type: "string" } },
      },
      required: ["path"],
    });
  });

  it("takes a parameter that is called like a keyword for what it is", () => {
    const schema = {
      type: "object",
      properties: { default: { type: "boolean" }, pattern: { type: "string" }, minimum: { type: "number" } },
    };
    expect(definitionSchema(schema)).toEqual(schema);
  });

  it("never leaves out what a call needs, and the checks still hold", () => {
    for (const { name: tool, parameters } of builtinManifest) {
      const told = definitionSchema(parameters) as { properties?: object; required?: readonly string[] };
      for (const name of told.required ?? []) expect(told.properties, tool).toHaveProperty(name);
    }
    const decode = (tool: string, args: object) => {
      const found = builtinManifest.find(({ name }) => name === tool);
      const parameters = found?.parameters ?? {};
      return createDecoder({ name: tool, parameters, foreign: false }).decode(args);
    };
    expect(decode("sleep", { seconds: 0, until: "noon" })).toMatchObject({ ok: false });
    // Accepted, though a model is told of it only in the definition of terminal.
    const start = { action: "start", command: "true", workdir: "/", notify_on_complete: true };
    expect(decode("process", start)).toMatchObject({ ok: true, args: start });
  });

  it("says of others' tools exactly what their authors wrote", async () => {
    const { runtime, registry } = await testRuntime();
    const parameters = {
      type: "object",
      properties: { a: { type: "string", minLength: 2 } },
      additionalProperties: false,
    };
    const tool = {
      name: "theirs",
      toolset: "t",
      description: "d",
      parameters,
      permissions: [],
      handler: () => "",
    };
    registry.add(tool, { provenance: { kind: "mcp" } });
    expect((await runtime.getToolDefinitions())[0]?.function.parameters).toEqual(parameters);
  });
});
