import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { sizeText } from "../../base/human.js";
import type { LoadedConfig } from "../../config/types.js";
import { cannotOpen, examine, type Finding } from "../../runtime/doctor.js";
import type { Runtime } from "../../runtime/runtime.js";
import { openConversations, type SqliteConversationStore } from "./conversation-store.js";

const group = "Conversations";

/** Everything that `hermes doctor` and the page tell. */
export async function examineAll(
  runtime: Runtime,
  options: Parameters<typeof examine>[1] = {},
): Promise<readonly Finding[]> {
  const findings = await examine(runtime, options);
  return [...findings, ...(await examineConversations(runtime.config))];
}

/** Every page of both files, what was cut off, what is kept of a damaged file, and how much room it takes. */
export async function examineConversations(config: LoadedConfig): Promise<readonly Finding[]> {
  const { paths, values } = config;
  if (!existsSync(paths.sessionsDb)) return [];
  let store: SqliteConversationStore | undefined;
  try {
    store = await openConversations(paths);
    const room = `${sizeText(store.queries.bytes(), "binary")} of ${values.sessions.max_mb} MB (sessions.max_mb)`;
    const conversations = await store.list({ children: true });
    return [
      {
        group,
        level: "ok",
        what: `${conversations.length} conversations: ${room}; those that rested longest leave first`,
      },
      ...cutOff(conversations.filter(({ state }) => state === "cut_off").length),
      ...(await damage(store, paths.sessionsDb)),
      ...(await keptOfDamaged(paths.sessionsDb)),
    ];
  } catch (error) {
    return [cannotOpen(group, error)];
  } finally {
    await store?.close();
  }
}

function cutOff(count: number): readonly Finding[] {
  if (count === 0) return [];
  return [
    {
      group,
      level: "note",
      what: `${count} cut off in the middle of a turn`,
      fix: "hermes chat --resume ID goes on with one",
    },
  ];
}

async function damage(store: SqliteConversationStore, path: string): Promise<readonly Finding[]> {
  const found = await store.check();
  if (found.index.length > 0) await store.index.mend();
  return [
    ...found.messages.slice(0, 1).map(
      (what): Finding => ({
        group,
        level: "error",
        what: `${path} is damaged: ${what}`,
        fix: "stop every running hermes; the next one keeps the damaged file and recovers what can be read",
      }),
    ),
    ...found.index.slice(0, 1).map(
      (what): Finding => ({
        group,
        level: "note",
        what: `the search index was damaged (${what}) and was made anew`,
      }),
    ),
  ];
}

async function keptOfDamaged(path: string): Promise<readonly Finding[]> {
  const names = (await readdir(dirname(path))).filter(
    (name) => name.startsWith(`${basename(path)}.corrupt-`) && name.endsWith(".txt"),
  );
  return Promise.all(
    names.map(async (name): Promise<Finding> => {
      const report = join(dirname(path), name);
      const what = (await readFile(report, "utf8").catch(() => `${report} cannot be read`)).trim();
      return { group, level: "warning", what, fix: `when it is settled: rm ${report.slice(0, -4)}*` };
    }),
  );
}
