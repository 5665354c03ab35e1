import type { HermesConfig } from "../config/types.js";
import { shownName } from "../registry/aliases.js";
import { Entry, type ToolDefinition } from "../registry/entry.js";
import { type Assembly, assembleTools } from "./assemble.js";
import { bridgeTools } from "./bridge-tools.js";
import { Catalogue } from "./catalogue.js";
import { isDeferrable } from "./deferrable.js";
import { toolSearchSettings } from "./settings.js";

/** The tools array for a list of tools that belongs to no session: to be shown or measured, not to be searched. */
export function assembleReady(options: {
  readonly definitions: readonly ToolDefinition[];
  readonly ready: readonly Entry[];
  readonly values: HermesConfig;
  readonly contextTokens: number | undefined;
}): Assembly {
  const { definitions, ready, values, contextTokens } = options;
  const configured = toolSearchSettings(values);
  const settings = contextTokens === undefined ? configured : { ...configured, contextTokens };
  const { vocabulary } = values.tools;
  const hidden = new Set(
    ready.filter(isDeferrable).flatMap(({ name }) => [name, shownName(name, vocabulary)]),
  );
  const finderFor = ({ length }: readonly unknown[]) => ({ size: length, search: async () => [] });
  return assembleTools({
    definitions,
    settings,
    isDeferrable: (name) => hidden.has(name),
    bridge: () =>
      bridgeTools({ catalogue: new Catalogue({ ready, finderFor }), settings }).map(
        (tool) => Entry.fromTool(tool, { kind: "builtin" }).definition,
      ),
  });
}
