import type { AnyTool } from "../../tool/tool.js";
import type { ToolHost } from "../../toolfile/tool-host.js";
import type { ToolSpec } from "../../toolfile/tool-spec.js";
import { commandTool } from "./command-tool.js";
import { compositeTool } from "./composite-tool.js";
import { httpTool } from "./http-tool.js";

/** The tool value of a specification that was read from a file. */
export function buildTool(spec: ToolSpec, host: ToolHost): AnyTool {
  return {
    name: spec.name,
    description: spec.description,
    toolset: spec.toolset,
    emoji: spec.emoji,
    ...(spec.tags.length > 0 && { tags: spec.tags }),
    ...(spec.aliases.length > 0 && { aliases: spec.aliases }),
    parameters: spec.schema,
    output: spec.output,
    ...(spec.examples.length > 0 && { examples: spec.examples }),
    ...partsOf(spec, host),
  };
}

function partsOf(spec: ToolSpec, host: ToolHost) {
  switch (spec.type) {
    case "http_wrapper":
      return httpTool(spec, host);
    case "command":
      return commandTool(spec, host);
    case "composite":
      return compositeTool(spec);
  }
}
