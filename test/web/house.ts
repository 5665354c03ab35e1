import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { schedulerFor } from "../../src/runtime/scheduler.js";
import { until as come } from "../server/support.js";
import { caller, scriptable, sourceOf, until } from "../sources/mcp/support.js";
import { onTestEnd, tempDir } from "../support/runtime.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { makeJobs, openWithModel, recordDay, say } from "./recorded.js";
import { type Dashboard, makeCalls } from "./server.js";

const TALK: readonly Step[] = [
  { when: { tools: false, anywhere: "release notes" }, text: "Release notes of 2.4", repeat: "always" },
  { when: { tools: false, anywhere: "clean up" }, text: "Merge got slow", repeat: "always" },
  { when: { tools: false }, text: "Where settings are merged", repeat: "always" },
  {
    when: { tools: true, last: "release notes" },
    text: "I collect what changed since the last tag.",
    calls: [
      {
        id: "n1",
        name: "write_file",
        arguments: { path: "CHANGELOG.md", content: "## 2.4\n\n- Merging settings is twice as fast.\n" },
      },
    ],
  },
  {
    when: { tools: true, last: "Which file" },
    text: "One search is enough.",
    calls: [{ id: "f1", name: "search_files", arguments: { pattern: "merge", path: "src" } }],
  },
  {
    when: { tools: true, last: "clean up" },
    text: "The time doubled when `lodash/merge` came back in. I replace it with the old helper and measure again:",
    calls: [
      { id: "m1", name: "search_files", arguments: { pattern: "merge", path: "src" } },
      {
        id: "m2",
        name: "write_file",
        arguments: {
          path: "src/merge.ts",
          content: "export function merge(a: object, b: object) {\n  return { ...a, ...b };\n}\n",
        },
      },
      {
        id: "m3",
        name: "todo",
        arguments: {
          todos: [
            { id: "1", content: "Find the slow commit", status: "completed" },
            { id: "2", content: "Replace the helper", status: "completed" },
            { id: "3", content: "Clean up", status: "in_progress" },
            { id: "4", content: "Write the note", status: "pending" },
          ],
        },
      },
      {
        id: "m4",
        name: "terminal",
        arguments: { command: "printf '\\033[32m31 passed\\033[0m  0 failed, 0 skipped\\n'" },
      },
    ],
    usage: { input: 4_120, output: 212 },
  },
  {
    when: { tools: true, anywhere: "0 failed, 0 skipped" },
    text: "The tests pass. The old build is in the way, so it goes first.",
    calls: [{ id: "m5", name: "terminal", arguments: { command: "git rev-parse HEAD; rm -rf build" } }],
    usage: { input: 4_960, output: 96 },
  },
  {
    when: { tools: true },
    text: "Done: **src/merge.ts** spreads both objects now, and the benchmark is twice as fast.",
    repeat: "always",
  },
];

const issue = (name: string, description: string, more: Record<string, unknown> = {}) => ({
  name,
  description,
  inputSchema: {
    type: "object",
    properties: { id: { type: "integer" }, do: { type: "string" }, to: { type: "array" }, ...more },
    required: ["id"],
  },
});

/** A dashboard in the middle of a working day: something waits, something runs, something changed, something failed. */
export async function openHouse(): Promise<Dashboard & { readonly conversation: string }> {
  const home = tempDir();
  mkdirSync(join(home, "tools"));
  writeFileSync(
    join(home, "tools", "deploy.yaml"),
    "tools: [{ name: where, description: Where we are, type: command, command: [pwd] }]",
  );
  const tools = [issue("close_issue", "Close an issue."), issue("list_issues", "List issues.")];
  const broken = "console.error('WAREHOUSE_URL is not set'); process.exit(1)";
  writeFileSync(
    join(home, "config.yaml"),
    stringify({
      tools: { max_workers: 6 },
      command_allowlist: [
        {
          command: "git push --force-with-lease origin staging",
          scope: "~/work/shop",
          added: "2026-11-03T09:12:44Z",
          origin: "always (http)",
        },
        { pattern: "docker compose down *", max_uses: 20, expires: "2030-01-31" },
      ],
      mcp_servers: {
        tracker: scriptable({ tools }),
        warehouse: { command: process.execPath, args: ["-e", broken] },
      },
    }),
  );
  const house = await openWithModel(TALK, {
    runtime: {
      home,
      userTools: true,
      env: { HOME: home },
      flags: { "approvals.timeout": 600 },
    },
  });
  const { runtime, cwd } = house;
  await recordDay(house, 2_400);
  await recordDay(house, 90, 15 * 60_000);
  await runtime.sources.settled();
  const call = await caller(runtime, { approver: { ask: async () => "once" } });
  const changed = issue("close_issue", "Close an issue and delete its branch.", {
    context: { type: "string" },
  });
  await call("mcp_tracker_list_issues", { id: 1, do: "change", to: [changed, tools[1]] });
  await until(sourceOf(runtime), "tracker", (status) => status.changed.length > 0);

  mkdirSync(join(cwd, "src"), { recursive: true });
  writeFileSync(join(cwd, "src/merge.ts"), 'import merge from "lodash/merge";\n\nexport { merge };\n');
  const conversation = await say(house, "Write the release notes of 2.4.");
  await say(house, "Which file merges the settings?");
  await makeCalls(house);
  await runJobs(house);
  runtime.log.info("listening on 127.0.0.1:9119");
  runtime.log.warn("the configuration names a tool that is not there: web_serch");
  runtime.log.error("warehouse exited with code 1");
  const lines =
    "for i in 1 2 3 4 5 6; do printf '\\033[32m✓\\033[0m built src/page-%s.ts in %s ms\\n' $i $((i*7)); done";
  await run(house, { command: `${lines}; echo 'watching for changes'; cat`, background: true });
  await run(house, { command: "echo migrated 12 tables", background: true });
  return { ...house, conversation };
}

async function run({ ask }: Dashboard, args: Record<string, unknown>): Promise<void> {
  const answer = await ask("/v1/tools/terminal/run", {
    method: "POST",
    body: JSON.stringify({ arguments: args }),
  });
  if (!answer.ok) throw new Error(await answer.text());
}

async function runJobs(house: Dashboard): Promise<void> {
  await makeJobs(house);
  const { scheduler, stop } = await schedulerFor(house.runtime);
  scheduler.start();
  onTestEnd(() => stop({ finishMs: 0, abortMs: 1_000 }));
  const answer = await house.ask("/v1/cron/outdated", {
    method: "POST",
    body: JSON.stringify({ action: "run" }),
  });
  if (!answer.ok) throw new Error(await answer.text());
  await come(
    async () => (await (await house.ask("/v1/cron/outdated/runs")).text()).includes("up to date"),
    20_000,
  );
}

/** A call that waits for a person; what becomes of it is nobody's business here. */
export async function askPerson(house: Dashboard): Promise<void> {
  const waiting = house.calls({
    tool_calls: [
      {
        id: "push",
        function: {
          name: "terminal",
          arguments: { command: "git fetch && git push --force-with-lease origin fix/merge" },
        },
      },
    ],
  });
  waiting.catch(() => undefined);
  await come(async () => (await (await house.ask("/v1/approvals")).text()).includes("force-with-lease"));
}
