import type { ConfigNode } from "./node.js";
import { nodeFrom } from "./node.js";
import type { ConfigKey } from "./schema.js";

/**
 * The node a person means by one piece of text (a variable, a flag, `config set`): lists as `a,b` or a
 * JSON array, maps as JSON. What does not fit stays text, so that the type check can say so.
 */
export function nodeFromText(key: ConfigKey, text: string): ConfigNode {
  const trimmed = text.trim();
  const { kind } = key.type;
  if (kind === "integer" || kind === "number") {
    return nodeFrom(/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : text);
  }
  if (kind === "list" || kind === "grants") {
    if (trimmed.startsWith("[")) return nodeFrom(parseJson(trimmed) ?? [text]);
    return nodeFrom(
      trimmed
        .split(",")
        .map((item) => item.trim())
        .filter((item) => item !== ""),
    );
  }
  if (kind === "map") return nodeFrom(parseJson(trimmed) ?? text);
  return nodeFrom(kind === "string" ? text : trimmed);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
