import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionState } from "../../src/call/session-state.js";
import type { ScheduledJobs } from "../../src/cron/types.js";
import type { Environment } from "../../src/env/environment.js";
import { createLocalEnvironment } from "../../src/env/local/local.js";
import type { SessionProcesses } from "../../src/env/processes/types.js";
import { guardedConnect } from "../../src/net/connect.js";
import { guardedFetch } from "../../src/net/fetch.js";
import { lookUpName } from "../../src/net/name-records.js";
import { openSocksProxy } from "../../src/net/socks-server.js";
import type { NetworkRules } from "../../src/net/urls.js";
import { folderOfPackage } from "../../src/runtime/packages/find.js";
import type { CallContext, Progress } from "../../src/tool/tool.js";

export interface TestContext extends CallContext {
  readonly folder: string;
  readonly updates: Progress[];
  cleanUp(): Promise<void>;
}

const NO_PROCESSES: SessionProcesses = {
  start: () => Promise.reject(new Error("this test starts no background processes")),
  list: () => [],
  get: (id) => {
    throw new Error(`no process ${id}`);
  },
  pendingInput: () => "",
  sentInput: () => "",
  seenEnd: () => undefined,
  takeNotices: () => [],
};

/** Says no when it is used, not when a context is copied. */
const NO_JOBS = new Proxy({} as ScheduledJobs, {
  get: () => {
    throw new Error("this test schedules nothing");
  },
});

/** A real call context on the local machine, in a folder of its own. */
export function makeContext(
  changes: Partial<Omit<CallContext, "environment">> & { environment?: Environment } = {},
): TestContext {
  const folder = mkdtempSync(join(tmpdir(), "hermes-test-"));
  const environment = changes.environment ?? createLocalEnvironment();
  const updates: Progress[] = [];
  const kept = new SessionState();
  return {
    callId: "call_1",
    toolName: "tested",
    session: { id: "session_1", profile: "default", cwd: folder, workspace: folder },
    signal: new AbortController().signal,
    host: {},
    processes: NO_PROCESSES,
    jobs: NO_JOBS,
    secrets: { get: () => undefined, add: () => undefined },
    settings: {},
    cacheDir: join(folder, "cache"),
    progress: (update) => updates.push(update),
    reportUsage: () => undefined,
    fetch: (request) =>
      guardedFetch({
        ...request,
        signal: changes.signal,
        rules: rulesOf(changes.settings),
        refusal: (url) => changes.refusal?.({ action: "network:fetch", resource: url, mode: "read" }),
        progress: (update) => updates.push(update),
      }),
    connect: (request) =>
      guardedConnect({
        ...request,
        signal: changes.signal,
        rules: rulesOf(changes.settings),
      }),
    openProxy: (request) =>
      openSocksProxy({
        ...request,
        rules: rulesOf(changes.settings),
        refusal: (url) => changes.refusal?.({ action: "network:fetch", resource: url, mode: "read" }),
      }),
    lookUp: (question) => lookUpName(question),
    load: (name) => import(name),
    packageFolder: (name) => folderOfPackage(name, folder),
    refusal: () => undefined,
    ask: async () => undefined,
    keep: (kind) => kept.keep(kind),
    openTools: () => {
      throw new Error("this test calls no other tools");
    },
    ...changes,
    environment,
    folder,
    updates,
    async cleanUp() {
      await kept.close();
      await environment.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Of the settings that a test gives, as the operator's rules of the network would be. */
function rulesOf(settings: CallContext["settings"] = {}): NetworkRules {
  const hosts = settings.allowed_hosts;
  return {
    allowPrivate: settings.allow_private_urls === true,
    privateHosts: Array.isArray(hosts) ? hosts.map(String) : [],
  };
}
