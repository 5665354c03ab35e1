import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import type { ServerAddress } from "./query-job.js";

export type Dialect = "sqlite" | "postgresql" | "mysql" | "mongodb" | "redis";

const DIALECTS: Readonly<Record<string, Dialect>> = {
  sqlite: "sqlite",
  sqlite3: "sqlite",
  postgres: "postgresql",
  postgresql: "postgresql",
  mysql: "mysql",
  mariadb: "mysql",
  mongodb: "mongodb",
  redis: "redis",
  rediss: "redis",
};

export type Target =
  | { readonly dialect: "sqlite"; readonly file: string; readonly configured: boolean }
  | { readonly dialect: Exclude<Dialect, "sqlite">; readonly server: ServerAddress };

/** What a connection string says by itself: a file, a server, or the name of a configured database. */
export type Named =
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "server"; readonly dialect: Exclude<Dialect, "sqlite">; readonly url: URL }
  | { readonly kind: "name"; readonly name: string };

export function readConnectionString(given: string): Named {
  const text = given.trim();
  const [, scheme] = /^([a-z][a-z0-9+.-]*):/i.exec(text) ?? [];
  if (scheme === undefined) return { kind: "name", name: text };
  const dialect = Object.hasOwn(DIALECTS, scheme.toLowerCase()) ? DIALECTS[scheme.toLowerCase()] : undefined;
  if (dialect === undefined) {
    throw new ToolError(`${JSON.stringify(scheme)} is no kind of database that is known here.`, {
      code: "invalid_arguments",
      hint:
        scheme.toLowerCase() === "mongodb+srv"
          ? "Name one server of it: mongodb://user:password@host:27017/database?tls=true."
          : "Use sqlite:FILE, postgres://, mysql://, mongodb://, redis://, or the name of a configured database.",
    });
  }
  if (dialect === "sqlite") {
    // sqlite:notes.db, sqlite://notes.db and sqlite:///srv/notes.db are all in use.
    return { kind: "file", file: text.slice(scheme.length + 1).replace(/^\/\/(?=.)/, "") };
  }
  try {
    const url = new URL(text);
    if (url.hostname === "") throw new Error("no host");
    return { kind: "server", dialect, url };
  } catch {
    throw new ToolError("The connection string is not a URL with a host.", {
      code: "invalid_arguments",
      hint: `Write it like ${scheme}://user:password@host/database, with special characters of the password encoded (%40 for @).`,
    });
  }
}

/** For people, effects and errors: who and where, never the password or what stands behind a question mark. */
export function shownAddress(url: URL): string {
  const user = url.username === "" ? "" : `${url.username}@`;
  return `${url.protocol}//${user}${url.host}${url.pathname}`;
}

/** Both spellings: what stands in the string, and what is sent. */
export function passwordsIn(given: string): Readonly<Record<string, string>> {
  const [, raw] = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*?:([^/?#]*)@/i.exec(given.trim()) ?? [];
  if (raw === undefined || raw === "") return {};
  const sent = decoded(raw);
  return { DATABASE_PASSWORD: sent, ...(sent !== raw && { DATABASE_PASSWORD_ENCODED: raw }) };
}

/** Looks the name up, where it is one; from here on passwords are hidden in whatever is shown. */
export function resolveTarget(given: string, ctx: CallContext): Target {
  const named = readConnectionString(given);
  if (named.kind === "file") return { dialect: "sqlite", file: named.file, configured: false };
  if (named.kind === "server") return serverTarget(named, { configured: false, password: undefined });
  const { url, passwordEnv } = configuredDatabase(named.name, ctx.settings.databases);
  for (const [name, value] of Object.entries(passwordsIn(url))) ctx.secrets.add(name, value);
  const target = readConnectionString(url);
  if (target.kind === "file") return { dialect: "sqlite", file: target.file, configured: true };
  if (target.kind === "name") throw notConfigured(named.name, `its url is ${JSON.stringify(url)}`);
  const password = passwordEnv === undefined ? undefined : ctx.secrets.get(passwordEnv);
  if (passwordEnv !== undefined && password === undefined) {
    throw new ToolError(`The password of the database ${named.name} is not set.`, {
      code: "unavailable",
      hint: `Set ${passwordEnv}=...`,
    });
  }
  return serverTarget(target, { configured: true, password });
}

function serverTarget(
  { dialect, url }: Extract<Named, { kind: "server" }>,
  more: { readonly configured: boolean; readonly password: string | undefined },
): Target {
  const password = more.password ?? (url.password === "" ? undefined : decoded(url.password));
  const server = { url, shown: shownAddress(url), configured: more.configured, password };
  return { dialect, server };
}

function configuredDatabase(
  name: string,
  databases: unknown,
): { url: string; passwordEnv: string | undefined } {
  const known = typeof databases === "object" && databases !== null ? databases : {};
  const entry: unknown = Object.hasOwn(known, name)
    ? Object.entries(known).find(([key]) => key === name)?.[1]
    : undefined;
  if (typeof entry === "string") return { url: entry, passwordEnv: undefined };
  if (typeof entry === "object" && entry !== null && "url" in entry && typeof entry.url === "string") {
    const passwordEnv = "password_env" in entry ? String(entry.password_env) : undefined;
    return { url: entry.url, passwordEnv };
  }
  const names = Object.keys(known);
  throw notConfigured(name, names.length === 0 ? "there are none" : `there are ${names.join(", ")}`);
}

function notConfigured(name: string, found: string): ToolError {
  return new ToolError(`${JSON.stringify(name)} is no configured database: ${found}.`, {
    code: "invalid_arguments",
    hint: "Give sqlite:FILE or a URL such as postgres://user@host/database, or have the operator add it: hermes config set databases.NAME.url URL",
  });
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}
