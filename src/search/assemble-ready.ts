import type { HermesConfig } from "../config/types.js";
import { shownName } from "../registry/aliases.js";
import { Entry, type ToolDefinition } from "../registry/entry.js";
import type { RegistrySnapshot } from "../registry/registry.js";
import { failure } from "../tool/errors.js";
import { type Assembly, assembleTools } from "./assemble.js";
import { bridgeTools } from "./bridge-tools.js";
import { Catalogue } from "./catalogue.js";
import { isDeferrable } from "./deferrable.js";
import { type ToolSearchSettings, toolSearchSettings } from "./settings.js";

/** The tools array for a list of tools that belongs to no session: to be shown or measured, not to be searched. */
export function assembleReady(options: {
  readonly definitions: readonly ToolDefinition[];
  readonly ready: readonly Entry[];
  readonly registry: RegistrySnapshot;
  readonly values: HermesConfig;
  readonly contextTokens: number | undefined;
  /** As configured when left out. */
  readonly mode?: ToolSearchSettings["mode"] | undefined;
}): Assembly {
  const { definitions, ready, values, mode } = options;
  const configured = toolSearchSettings(options);
  const settings = mode === undefined ? configured : { ...configured, mode };
  const { vocabulary } = values.tools;
  const hidden = ready.filter(isDeferrable);
  const names = new Set(hidden.flatMap(({ name }) => [name, shownName(name, vocabulary)]));
  const finderFor = ({ length }: readonly unknown[]) => ({ size: length, search: async () => [] });
  const catalogue = new Catalogue({ entries: hidden, finderFor });
  const lookUp = () => failure("internal", "these stand-ins are only shown");
  return assembleTools({
    definitions,
    settings,
    isDeferrable: (name) => names.has(name),
    bridge: () =>
      bridgeTools({ settings, catalogue: () => catalogue, lookUp }).map(
        (tool) => Entry.fromTool(tool, { kind: "builtin" }).definition,
      ),
  });
}
