import { expect, it } from "vitest";
import { defineTool, ToolRegistry } from "../../../src/index.js";
import type { AnyTool } from "../../../src/tool/tool.js";

function version(text: string, freed: string[]): AnyTool {
  return defineTool({
    name: "shared",
    toolset: "own",
    description: text,
    parameters: { type: "object", properties: {} },
    handler: () => text,
    dispose: () => void freed.push(text),
  }) as AnyTool;
}

it("a file that changes below another that covers it is what appears when the other goes", () => {
  const registry = new ToolRegistry();
  const freed: string[] = [];
  const swap = (source: string, text?: string) =>
    registry.swap({
      source,
      provenance: { kind: "home", source },
      tools: text === undefined ? [] : [version(text, freed)],
      overrides: new Set(["shared"]),
    });
  const visible = () => registry.get("shared")?.description;
  swap("module:a", "a1");
  swap("module:b", "b1");
  expect(visible()).toBe("b1");
  swap("module:a", "a2");
  expect(visible()).toBe("b1");
  swap("module:b", "b2");
  expect(visible()).toBe("b2");
  swap("module:b");
  expect(visible()).toBe("a2");
  swap("module:b", "b3");
  swap("module:a");
  expect(visible()).toBe("b3");
  swap("module:b");
  expect(visible()).toBeUndefined();
  expect(freed.sort()).toEqual(["a1", "a2", "b1", "b2", "b3"]);
});
