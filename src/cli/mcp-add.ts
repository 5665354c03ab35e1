import { setConfigValue } from "../config/edit.js";
import type { EditResult } from "../config/edit-result.js";
import { writeSecret } from "../config/edit-secret.js";
import type { McpServerConfig } from "../config/mcp-server.js";
import type { McpServerStatus } from "../sources/mcp/status.js";
import { failure, HermesError } from "../tool/errors.js";
import { confirmed } from "./confirm.js";
import { EXIT } from "./exit-codes.js";
import type { CommandContext } from "./globals.js";
import { draftsFrom } from "./mcp-draft.js";
import { describeServer, describeStatus } from "./mcp-report.js";
import { type SplitSecret, splitSecrets, variablesNamed } from "./mcp-secrets.js";
import {
  checkedServer,
  exitCodeFor,
  type ServerSection,
  tested as testedServer,
  withServers,
} from "./mcp-servers.js";

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
export async function run(
  context: CommandContext,
  words: readonly string[],
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { out } = context;
  const found = await draftsFrom(words, options);
  for (const { name, section } of found) checkedServer(name, section);
  await withServers(context, async ({ runtime, connect }) => {
    const known = runtime.config.values.mcp_servers;
    const drafts = draftsBeside(known, found);
    for (const { name } of drafts) {
      if (Object.hasOwn(known, name) && options.replace !== true)
        throw new HermesError(
          failure("bad_request", `there is a server called ${name} already`, "Say --replace to change it."),
        );
    }
    for (const { name, server } of drafts)
      for (const line of describeServer(name, server)) say(context, line);
    for (const { name, notes } of found) for (const note of notes) out.note(`${name}: ${note}`);
    const one = drafts.length === 1;
    if (
      !(await confirmed({
        question: one ? "Add this server?" : `Add these ${drafts.length} servers?`,
        yes: context.flags.yes === true,
      }))
    )
      throw new HermesError(failure("denied", "nothing was added"));
    const tested = options.test !== false && drafts.some(({ server }) => server.enabled);
    const results: Added[] = [];
    if (tested) {
      const source = await connect({
        servers: Object.fromEntries(drafts.map(({ name, server }) => [name, server])),
        secrets: drafts.flatMap(({ secrets }) => secrets),
      });
      const statuses = await Promise.all(drafts.map(({ name }) => testedServer(source, name)));
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
