import type { CallResult } from "../../../tool/call.js";
import { text } from "../../../tool/content.js";
import { type Failure, failure } from "../../../tool/errors.js";
import type { NestedTool, NestedTools } from "../../../tool/tool.js";

/** What a script cannot use of a tool: nobody would be there to follow what goes on after it has ended. */
const NOT_INSIDE: ReadonlyMap<string, readonly string[]> = new Map([
  ["terminal", ["background", "pty", "notify_on_complete", "watch_patterns", "ready"]],
]);

const SHOWN_NAMES = 20;

/** The tools as scripts get them: exactly these names, without what cannot work inside a script. */
export function insideScripts(nested: NestedTools): NestedTools {
  const tools = new Map(nested.tools.map((tool) => [tool.name, withoutUnusable(tool)]));
  return {
    tools: [...tools.values()],
    call(request, options) {
      const refused = refusal(request, tools);
      return refused === undefined
        ? nested.call(request, options)
        : Promise.resolve(ended(request.name, refused));
    },
    close: () => nested.close(),
  };
}

function refusal(
  request: { readonly name: string; readonly arguments: unknown },
  tools: ReadonlyMap<string, NestedTool>,
): Failure | undefined {
  const { name } = request;
  // Any other spelling of a name would slip past what is said about the tool here.
  if (!tools.has(name)) {
    const names = [...tools.keys()];
    const more = names.length > SHOWN_NAMES ? ` and ${names.length - SHOWN_NAMES} more` : "";
    const there = names.length === 0 ? "none" : `${names.slice(0, SHOWN_NAMES).join(", ")}${more}`;
    return failure("not_found", `Scripts have no tool ${name}.`, `There are: ${there}.`);
  }
  const used = unusable(name).find((parameter) => isGiven(request.arguments, parameter));
  if (used === undefined) return undefined;
  return failure(
    "invalid_arguments",
    `${name} takes no ${used} inside a script: only commands that end by themselves.`,
    `Leave out ${used}, or call ${name} outside of the script.`,
  );
}

function unusable(tool: string): readonly string[] {
  return NOT_INSIDE.get(tool) ?? [];
}

/** The path repairs arguments that came as text, so text that names one counts as well. */
function isGiven(args: unknown, parameter: string): boolean {
  if (typeof args === "string") return args.includes(parameter);
  if (typeof args !== "object" || args === null || !Object.hasOwn(args, parameter)) return false;
  const value = (args as Record<string, unknown>)[parameter];
  const empty = value === undefined || value === null || value === false;
  return !(empty || (Array.isArray(value) && value.length === 0));
}

function withoutUnusable(tool: NestedTool): NestedTool {
  const hidden = unusable(tool.name);
  if (hidden.length === 0) return tool;
  const { properties = {}, ...rest } = tool.parameters as { readonly properties?: Record<string, unknown> };
  const kept = Object.fromEntries(Object.entries(properties).filter(([name]) => !hidden.includes(name)));
  return { ...tool, parameters: { ...rest, properties: kept } as NestedTool["parameters"] };
}

function ended(name: string, error: Failure): CallResult {
  return {
    id: "",
    name,
    called_as: name,
    ok: false,
    state: "not_started",
    content: [text(JSON.stringify({ error: error.message }))],
    human: error.message,
    error,
    duration_ms: 0,
    environment: "",
    truncated: false,
  };
}
