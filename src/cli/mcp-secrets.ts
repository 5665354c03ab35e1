import { namesSecret } from "../policy/secrets.js";
import type { ServerSection } from "./mcp-servers.js";

/** A value that goes to `.env`; the configuration names it only. */
export interface SplitSecret {
  readonly name: string;
  readonly value: string;
}

/**
 * Takes passwords and tokens out of a section: config.yaml is read by others, and shared. `taken` are the variables
 * of other servers, which must keep what they hold.
 */
export function splitSecrets(
  server: string,
  section: ServerSection,
  taken: ReadonlySet<string>,
): { readonly section: ServerSection; readonly secrets: readonly SplitSecret[] } {
  const secrets: SplitSecret[] = [];
  const moved = (key: string, value: string): string => {
    const wanted = `MCP_${server}_${key}`.replace(/[^A-Za-z0-9]+/g, "_").toUpperCase();
    let name = wanted;
    for (let count = 2; taken.has(name) || secrets.some((other) => other.name === name); count += 1)
      name = `${wanted}_${count}`;
    secrets.push({ name, value });
    return `\${${name}}`;
  };
  const texts = (kind: "env" | "headers"): Readonly<Record<string, unknown>> => {
    const given = section[kind];
    if (typeof given !== "object" || given === null) return {};
    const changed = Object.entries(given).map(([key, value]: [string, unknown]) => {
      if (typeof value !== "string" || value === "" || value.includes("${")) return [key, value];
      if (!(kind === "headers" ? isSecretHeader(key) : namesSecret(key))) return [key, value];
      const [, scheme = "", rest = value] = /^((?:Bearer|Basic|Token)\s+)(\S.*)$/is.exec(value) ?? [];
      return [key, scheme + moved(key, rest)];
    });
    return { [kind]: Object.fromEntries(changed) };
  };
  const next: Record<string, unknown> = { ...section, ...texts("env"), ...texts("headers") };
  const { oauth_client_secret: secret } = section;
  if (typeof secret === "string" && secret !== "" && !secret.includes("${"))
    next.oauth_client_secret = moved("client_secret", secret);
  return { section: next, secrets };
}

function isSecretHeader(name: string): boolean {
  return /^(?:proxy-)?authorization$|^cookie$/i.test(name) || namesSecret(name.replaceAll("-", "_"));
}

/** The variables that sections of servers name. */
export function variablesNamed(sections: readonly unknown[]): ReadonlySet<string> {
  const found = JSON.stringify(sections).matchAll(/\$\{([A-Za-z_]\w*)\}/g);
  return new Set([...found].map(([, name = ""]) => name));
}
