import { ToolError } from "../tool/errors.js";
import { encoded } from "./endpoint.js";
import type { ToolHost } from "./tool-host.js";
import type { Auth } from "./tool-spec.js";

/** What proves who is asking, ready to be added to a request. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly query: string;
  /** Values that must not be seen, also where they are too short to be masked everywhere. */
  readonly secrets: readonly string[];
}

/** Taking out less than this would only make a message unreadable. */
const SHORTEST_MASKED = 4;

export function credentialsOf(auth: readonly Auth[], host: ToolHost): Credentials {
  const headers: Record<string, string> = {};
  const query: string[] = [];
  const secrets: string[] = [];
  const read = (name: string): string => {
    const value = host.variable(name);
    if (value !== undefined && value !== "") return value;
    throw new ToolError(`${name} is not set, so the request cannot be made.`, {
      code: "unavailable",
      hint: `Set ${name} in the environment or in the .env file of the Hermes home.`,
    });
  };
  const inHeader = (name: string): string => {
    const value = read(name);
    if (!/[^\t\x20-\x7e\x80-\xff]/.test(value)) return value;
    throw new ToolError(`${name} holds a line break or another character that a header cannot carry.`, {
      code: "unavailable",
      hint: `Set ${name} again; a copied value often ends with a line break.`,
    });
  };
  for (const one of auth) {
    switch (one.type) {
      case "basic": {
        const pair = basicPair(read(one.usernameEnv), read(one.passwordEnv));
        headers.authorization = `Basic ${pair}`;
        secrets.push(pair, read(one.passwordEnv));
        break;
      }
      case "bearer":
        headers.authorization = `Bearer ${inHeader(one.tokenEnv)}`;
        secrets.push(read(one.tokenEnv));
        break;
      case "header":
        headers[one.name] = one.prefix + inHeader(one.valueEnv);
        secrets.push(read(one.valueEnv));
        break;
      case "query": {
        const value = read(one.valueEnv);
        // As a URL spells it, which is how errors repeat it.
        const spelled = encoded(one.name, value).replaceAll("'", "%27");
        query.push(`${encoded(one.name, one.name)}=${spelled}`);
        secrets.push(value, spelled);
      }
    }
  }
  return { headers, query: query.join("&"), secrets };
}

export function basicPair(username: string, password: string): string {
  return Buffer.from(`${username}:${password}`, "utf8").toString("base64");
}

export function withQuery(url: string, query: string): string {
  if (query === "") return url;
  return `${url}${url.includes("?") ? "&" : "?"}${query}`;
}

/** Error messages may quote the address; the journal and the model must not see what is in it. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .filter((secret) => secret.length >= SHORTEST_MASKED)
    .reduce((masked, secret) => masked.replaceAll(secret, "[REDACTED]"), text);
}
