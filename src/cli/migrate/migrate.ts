import { existsSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { quoteIfNeeded } from "../../base/quote.js";
import { isRecord } from "../../base/record.js";
import { visible } from "../../base/visible-text.js";
import { plainValue } from "../../config/node.js";
import { parseConfigText } from "../../config/parse-yaml.js";
import { hermesPaths } from "../../config/paths.js";
import { jobsOf } from "../../runtime/jobs.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { CommandContext } from "../context.js";
import { commandError, EXIT } from "../errors.js";
import { assertPerson } from "../person.js";
import { migrateConversations } from "./conversations.js";
import { planGrants } from "./grants.js";
import { planJobs } from "./jobs.js";
import { planMcpServers } from "./mcp-servers.js";
import { planMemories } from "./memories.js";
import { planOthers } from "./others.js";
import { readSource, reasonOf } from "./read-source.js";
import { planSecrets } from "./secrets.js";
import { planSettings, type Tree } from "./settings.js";
import { planSkills } from "./skills.js";
import { failed, type Homes, type Item, type Step } from "./step.js";
import { printItems } from "./table.js";

/** By these a home of Hermes Agent is known. */
const SIGNS = ["config.yaml", ".env", "state.db", "memories", "skills", join("cron", "jobs.json")];

/** `hermes migrate --from DIR`: what another Hermes has gathered, brought into this home as far as it fits. */
export async function migrate(context: CommandContext): Promise<void> {
  const { out, flags, options } = context;
  const isDryRun = flags.dryRun === true;
  if (!isDryRun)
    assertPerson("Settings and memories of elsewhere are brought in by a person", "Add --dry-run to look.");
  const homes = await homesOf(String(options.from), context.home);
  const items: Item[] = [];
  const settle = async ({ item, apply }: Step) => {
    try {
      if (!isDryRun) await apply?.();
      items.push(item);
    } catch (error) {
      items.push({ ...item, state: "failed", reason: reasonOf(error) });
    }
  };
  const settleAll = async (steps: readonly Step[]) => {
    for (const step of steps) await settle(step);
  };

  const { steps: unread, theirs, ours } = await readConfigs(homes);
  await settleAll(unread);
  await settleAll(planSettings(homes, { theirs, ours }));
  await settleAll(planGrants(homes, { theirs, ours }));
  await settleAll(planMcpServers(homes, { theirs, ours }));
  await settleAll(await planSecrets(homes, theirs));
  await settleAll(await planMemories(homes, await memoryRoom(context, items, theirs)));
  await settleAll(await planSkills(homes));
  await migrateConversations(homes, settle);
  await withLazyRuntime(context, async (runtime) => {
    const { timezone } = (await context.config()).values.cron;
    await settleAll(await planJobs(homes, { timezone, jobs: async () => jobsOf(await runtime()) }));
  });
  await settleAll(await planOthers(homes));

  if (out.json) out.value({ from: homes.from, dry_run: isDryRun, items: items.map(publicItem) });
  else printItems(context, { items, isDryRun, from: homes.from });
  if (items.some(({ state }) => state === "failed")) process.exitCode = EXIT.toolError;
}

async function homesOf(given: string, home: string): Promise<Homes> {
  const from = resolve(given.replace(/^~(?=\/|$)/, homedir()));
  const real = (path: string) => realpath(path).catch(() => path);
  if ((await real(from)) === (await real(home)))
    throw commandError(
      "bad_request",
      `${visible(from)} is the Hermes home of this program itself`,
      `Move the other one away first (mv ${quoteIfNeeded(visible(from))} ${quoteIfNeeded(`${visible(from)}-agent`)}), or name another home for this one with --home.`,
    );
  if (!SIGNS.some((sign) => existsSync(join(from, sign))))
    throw commandError(
      "not_found",
      `${visible(from)} is no home of Hermes Agent: there is neither config.yaml nor state.db, .env, memories, skills or cron/jobs.json`,
      "It is ~/.hermes unless HERMES_HOME said otherwise.",
    );
  return { from, home };
}

/** Their file may be much longer than ours: it is often a copy of a commented example. */
const THEIR_LIMITS = { maxBytes: 1_048_576, maxNodes: 50_000 };

async function readConfigs(
  homes: Homes,
): Promise<{ readonly steps: readonly Step[]; readonly theirs: Tree; readonly ours: Tree }> {
  const ours = await parseConfigText((await readSource(hermesPaths(homes.home).config)) ?? "");
  if (!ours.ok)
    throw commandError(
      "bad_request",
      `${hermesPaths(homes.home).config}: ${ours.message}`,
      "Mend it first: hermes config check",
    );
  const unread = (reason: string) => ({
    steps: [failed({ kind: "setting", name: "config.yaml", reason })],
    theirs: {},
    ours: treeOf(plainValue(ours.root)),
  });
  try {
    const text = (await readSource(join(homes.from, "config.yaml"))) ?? "";
    const theirs = await parseConfigText(text, THEIR_LIMITS);
    if (!theirs.ok) return unread(`line ${theirs.place?.line ?? "?"}: ${theirs.message}`);
    return { steps: [], theirs: treeOf(plainValue(theirs.root)), ours: treeOf(plainValue(ours.root)) };
  } catch (error) {
    return unread(reasonOf(error));
  }
}

function treeOf(value: unknown): Tree {
  return isRecord(value) ? value : {};
}

/** As it will be: in a dry run the limits that are brought along are not yet written. */
async function memoryRoom(
  context: CommandContext,
  items: readonly Item[],
  theirs: Tree,
): Promise<{ readonly memory: number; readonly user: number }> {
  const { memory } = (await context.config()).values;
  const limits = treeOf(theirs.memory);
  const room = (key: string, old: string, otherwise: number) => {
    const isTaken = items.some(({ to, state }) => to === key && state === "migrated");
    return isTaken ? Number(limits[old]) : otherwise;
  };
  return {
    memory: room("memory.max_chars", "memory_char_limit", memory.max_chars),
    user: room("memory.user_max_chars", "user_char_limit", memory.user_max_chars),
  };
}

/** Opened for the first job that is written, if there is one. */
async function withLazyRuntime(
  context: CommandContext,
  work: (runtime: () => Promise<Runtime>) => Promise<void>,
): Promise<void> {
  let opening: Promise<Runtime> | undefined;
  try {
    await work(() => {
      opening ??= context.runtime({ wait: false, warns: false });
      return opening;
    });
  } finally {
    await (await opening)?.close();
  }
}

function publicItem({ kind, name, state, to, reason }: Item) {
  return { kind, name, state, to: to ?? null, reason: reason ?? null };
}
