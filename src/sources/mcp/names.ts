import { sha256 } from "../../base/hash.js";

const LONGEST_NAME = 64;
const HASH_CHARS = 8;

/** Names the server itself may have for a tool: short, and visible to whoever reads a list. */
const USABLE_OWN_NAME = /^[^\p{C}\p{Z}][^\p{C}\p{Zl}\p{Zp}]{0,255}$/u;

export function isUsableOwnName(name: unknown): name is string {
  return typeof name === "string" && USABLE_OWN_NAME.test(name);
}

/** `mcp_<server>_<tool>`, the name a model calls. */
export function toolNameOf(server: string, tool: string): string {
  return fitted(`mcp_${plain(server)}_${plain(tool)}`, `${server}\0${tool}`);
}

/** Other spellings that lead to the same tool: both halves set off by two underscores, cleaned or as they are. */
export function aliasesOf(server: string, tool: string): readonly string[] {
  const whole = `${server}\0${tool}`;
  const cleaned = fitted(`mcp__${plain(server)}__${plain(tool)}`, whole);
  const asIs = `mcp__${server}__${tool}`;
  const aliases = /^[A-Za-z0-9_.-]{1,64}$/.test(asIs) ? [cleaned, asIs] : [cleaned];
  return [...new Set(aliases)].filter((alias) => alias !== toolNameOf(server, tool));
}

export function toolsetOf(server: string): string {
  return `mcp-${server}`;
}

export function sourceOf(server: string): string {
  return `mcp:${server}`;
}

function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_]/g, "_");
}

/** What does not fit is cut, and told apart by a hash of the whole original name. */
function fitted(name: string, original: string): string {
  if (name.length <= LONGEST_NAME) return name;
  const mark = sha256(original).slice(0, HASH_CHARS);
  return `${name.slice(0, LONGEST_NAME - HASH_CHARS - 1)}_${mark}`;
}
