import type { AnyTool } from "../tool/tool.js";
import type { Provenance } from "./entry.js";

/** What a source (a server, a file, a plugin) brings at one moment. */
export interface SourceTools {
  /** Names the source: `mcp:github`, `yaml:/path/file.yaml`, `plugin:weather`. */
  readonly source: string;
  readonly provenance: Provenance;
  readonly tools: readonly AnyTool[];
  /** Names it may take from another toolset. */
  readonly overrides?: ReadonlySet<string>;
  /** Other names of its toolsets. */
  readonly toolsetAliases?: Readonly<Record<string, string>>;
}

export interface SwapReport {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
  readonly rejected: readonly { readonly name: string; readonly reason: string }[];
}
