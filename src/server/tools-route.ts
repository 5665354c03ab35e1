import { encodeDefinitions, type WireFormat } from "../protocol/index.js";
import { failure, HermesError } from "../tool/errors.js";
import { jsonResponse } from "./problem.js";
import { TOOLSETS_PARAMETER, toolsetsFrom } from "./query.js";
import type { Route } from "./route.js";

const FORMATS = [
  "openai",
  "anthropic",
  "gemini",
  "mcp",
  "responses",
] as const satisfies readonly WireFormat[];

export const toolsRoute: Route = {
  method: "GET",
  path: "/v1/tools",
  summary:
    "The tools a session would have: definitions for a model, or with detail=1 everything known of each.",
  query: [
    {
      name: "format",
      description: "Whose format.",
      schema: { type: "string", enum: FORMATS, default: "openai" },
    },
    {
      name: "detail",
      description: "1 lists every tool, also those that are off or need set-up, with the reason.",
      schema: { type: "string", enum: ["1"] },
    },
    TOOLSETS_PARAMETER,
  ],
  answer: {
    description: "A list; for Gemini one object that holds it.",
    type: "application/json",
    schema: { type: ["array", "object"] },
  },

  async handle(context, { runtime, sessions }) {
    const toolsets = toolsetsFrom(context);
    const enabled = toolsets === undefined ? undefined : await sessions.toolNames(toolsets);
    const choice = enabled === undefined ? {} : { enabled };
    if (context.req.query("detail") === "1") return jsonResponse(await runtime.listTools(choice));
    const wanted = context.req.query("format") ?? "openai";
    const format = FORMATS.find((known) => known === wanted);
    if (format === undefined) {
      throw new HermesError(
        failure("bad_request", `Unknown format: ${wanted.slice(0, 40)}`, `There are: ${FORMATS.join(", ")}.`),
      );
    }
    const definitions = await runtime.getToolDefinitions({ ...choice, quiet: true });
    return jsonResponse(
      encodeDefinitions(
        definitions.map((definition) => definition.function),
        format,
      ),
    );
  },
};
