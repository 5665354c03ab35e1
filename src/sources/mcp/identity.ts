import { canonicalJson } from "../../base/canonical-json.js";
import { sha256 } from "../../base/hash.js";
import type { McpServerConfig } from "../../config/mcp-server.js";

/**
 * Tells one server from another behind the same name: what was learned about a program or an address says nothing
 * about a different one. Made of the settings as they are written, so no secret is in it.
 */
export function identityOf(config: McpServerConfig): string {
  const { command, args, env, cwd, url } = config;
  return sha256(canonicalJson({ command, args, env, cwd, url }));
}
