import { setConfigValue, writeSecret } from "../../config/edit.js";
import type { EditResult } from "../../config/edit-result.js";
import type { McpServerConfig } from "../../config/mcp-server.js";
import { namesSecret } from "../../policy/secrets.js";
import type { McpServerStatus } from "../../sources/mcp/status.js";
import { HermesError } from "../../tool/errors.js";
import type { CommandContext } from "../context.js";
import { commandError, EXIT } from "../errors.js";
import { confirm } from "../person.js";
import { draftsFrom } from "./draft.js";
import {
  checkedServer,
  describeServer,
  describeStatus,
  exitCodeFor,
  type ServerSection,
  testServer,
  withServers,
} from "./servers.js";

interface Draft {
  readonly name: string;
  /** As it will be written: secrets are named. */
  readonly section: ServerSection;
  readonly secrets: readonly SplitSecret[];
  readonly server: McpServerConfig;
}

interface Added {
  readonly name: string;
  readonly added: boolean;
  readonly status?: McpServerStatus;
}

/** Shows what would be started, asks, tries it, and only then writes it down. */
export async function add(context: CommandContext): Promise<void> {
  const { out, args: words, options } = context;
  const found = await draftsFrom(words, options);
  for (const { name, section } of found) checkedServer(name, section);
  await withServers(context, async ({ runtime, connect }) => {
    const known = runtime.config.values.mcp_servers;
    const drafts = draftsBeside(known, found);
    for (const { name } of drafts) {
      if (Object.hasOwn(known, name) && options.replace !== true)
        throw commandError(
          "bad_request",
          `there is a server called ${name} already`,
          "Say --replace to change it.",
        );
    }
    for (const { name, server } of drafts)
      for (const line of describeServer(name, server)) say(context, line);
    for (const { name, notes } of found) for (const note of notes) out.note(`${name}: ${note}`);
    await confirm({
      question: drafts.length === 1 ? "Add this server?" : `Add these ${drafts.length} servers?`,
      yes: context.flags.yes === true,
      refused: "nothing was added",
    });
    const tested = options.test !== false && drafts.some(({ server }) => server.enabled);
    const results: Added[] = [];
    if (tested) {
      const source = await connect({
        servers: Object.fromEntries(drafts.map(({ name, server }) => [name, server])),
        secrets: drafts.flatMap(({ secrets }) => secrets),
      });
      const statuses = await Promise.all(
        drafts.map(({ name, server }) => testServer(source, { name, server, out: context.out })),
      );
      for (const [index, draft] of drafts.entries()) {
        const status = statuses[index];
        if (status !== undefined) results.push(await settle(context, { draft, status }));
      }
    } else {
      for (const draft of drafts) {
        await write(context.home, draft);
        out.line(`${out.mark("ok")} ${draft.name} added to the configuration, not tried`);
        results.push({ name: draft.name, added: true });
      }
    }
    if (out.json) out.values(results);
  });
}

function draftsBeside(
  known: Readonly<Record<string, unknown>>,
  found: readonly { readonly name: string; readonly section: ServerSection }[],
): readonly Draft[] {
  const written = new Map<string, unknown>(Object.entries(known));
  return found.map(({ name, section: given }) => {
    written.delete(name);
    const { section, secrets } = splitSecrets(name, given, variablesNamed([...written.values()]));
    written.set(name, section);
    return { name, section, secrets, server: checkedServer(name, section) };
  });
}

/** What needs a login is right as it is; what cannot be reached is not written down. */
async function settle(
  { out, home }: CommandContext,
  { draft, status }: { readonly draft: Draft; readonly status: McpServerStatus },
): Promise<Added> {
  for (const line of describeStatus(status, out)) out.line(line);
  const code = exitCodeFor(status);
  const added = code === EXIT.ok || code === EXIT.authentication || !draft.server.enabled;
  if (added) {
    await write(home, draft);
    out.line(`${out.mark("ok")} ${draft.name} added to the configuration`);
  } else out.note(`${draft.name} was not added; --no-test adds it all the same`);
  if (code !== EXIT.ok && draft.server.enabled) process.exitCode = code;
  return { name: draft.name, added, status };
}

async function write(home: string, { name, section, secrets }: Draft): Promise<void> {
  for (const secret of secrets) done(await writeSecret({ home, ...secret }));
  done(await setConfigValue({ home, key: `mcp_servers.${name}`, value: section }));
}

function done(result: EditResult): void {
  if (!result.ok) throw new HermesError(result);
}

/** Seen before the question, also when the result goes to a program. */
function say({ out }: CommandContext, line: string): void {
  if (!out.json) process.stderr.write(`${line}\n`);
}

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
