import picomatch from "picomatch";
import { isRecord } from "../../base/record.js";
import type { McpServerConfig } from "../../config/mcp-server.js";
import { cleanLine } from "./clean-text.js";
import { type Definition, definitionFrom, sizeOf } from "./definition.js";
import { isUsableOwnName, toolNameOf } from "./names.js";

/** A star stands for any text: names are no paths. */
const GLOBS = { bash: true, dot: true };

/** All definitions of a server together; reading more would hold up everybody else. */
const MOST_TEXT = 4 * 1024 * 1024;

export interface Quarantined {
  readonly name: string;
  readonly reason: string;
}

export interface ListedTools {
  readonly definitions: readonly Definition[];
  readonly quarantined: readonly Quarantined[];
}

/** The tools of a list that can be used, and for each of the others why it cannot. */
export function readListedTools(options: {
  readonly server: string;
  readonly config: McpServerConfig;
  readonly tools: readonly unknown[];
  /** Names the SDK took; others say something about headers that cannot be. */
  readonly accepted: ReadonlySet<string>;
}): ListedTools {
  const quarantined: Quarantined[] = [];
  const isWanted = wanted(options.config);
  const candidates: Definition[] = [];
  let room = MOST_TEXT;
  for (const raw of options.tools) {
    const leave = (reason: string) => quarantined.push({ name: shownName(raw), reason });
    if (!isRecord(raw) || !isUsableOwnName(raw.name)) leave("it has no usable name");
    else if (!isWanted(raw.name)) continue;
    else if (!options.accepted.has(raw.name))
      leave("what it says about headers (x-mcp-header) is not allowed");
    else {
      const definition = definitionFrom({ ...raw, name: raw.name });
      if (typeof definition === "string") leave(definition);
      else if (sizeOf(definition) > room) leave("the definitions of this server are too large together");
      else {
        room -= sizeOf(definition);
        candidates.push(definition);
      }
    }
  }
  return withoutCollisions(options.server, candidates, quarantined);
}

/** Several that would answer to one name are all left out: nobody could say which of them is meant. */
function withoutCollisions(
  server: string,
  candidates: readonly Definition[],
  quarantined: readonly Quarantined[],
): ListedTools {
  const byName = new Map<string, Definition[]>();
  for (const definition of candidates) {
    const name = toolNameOf(server, definition.name);
    byName.set(name, [...(byName.get(name) ?? []), definition]);
  }
  const clashing = [...byName].filter(([, definitions]) => definitions.length > 1);
  return {
    definitions: [...byName.values()].flatMap((definitions) => (definitions.length === 1 ? definitions : [])),
    quarantined: [
      ...quarantined,
      ...clashing.flatMap(([name, definitions]) =>
        definitions.map((definition) => ({
          name: shownName(definition),
          reason: `${definitions.length} tools of this server would be called ${name}`,
        })),
      ),
    ],
  };
}

/** By the server's own names: when some are included, only those; else all that are not excluded. */
function wanted({ tools }: McpServerConfig): (name: string) => boolean {
  if (tools.include.length > 0) return picomatch([...tools.include], GLOBS);
  if (tools.exclude.length === 0) return () => true;
  const isExcluded = picomatch([...tools.exclude], GLOBS);
  return (name) => !isExcluded(name);
}

function shownName(tool: unknown): string {
  return isRecord(tool) && typeof tool.name === "string" ? cleanLine(tool.name, 100) : "(without a name)";
}
