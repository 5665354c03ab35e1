import type { CallStatus } from "../../src/call/journal.js";
import { jobsOf } from "../../src/runtime/jobs.js";
import { onTestEnd } from "../support/runtime.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { type Dashboard, openDashboard } from "./server.js";

/** Numbers that are the same each time. */
function dice(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

const TOOLS = [
  { tool: "read_file", toolset: "file", share: 30, ms: 5, fails: 0.01, code: "not_found" },
  { tool: "terminal", toolset: "terminal", share: 24, ms: 380, fails: 0.04, code: "exit_code", denied: 0.04 },
  { tool: "search_files", toolset: "file", share: 18, ms: 39, fails: 0.005, code: "invalid_arguments" },
  { tool: "patch", toolset: "file", share: 9, ms: 28, fails: 0.05, code: "no_match" },
  { tool: "web_extract", toolset: "web", share: 6, ms: 1_100, fails: 0.19, code: "timeout" },
  { tool: "execute_code", toolset: "code", share: 5, ms: 3_200, fails: 0.03, code: "invalid_arguments" },
  {
    tool: "http_request",
    toolset: "http",
    share: 4,
    ms: 180,
    fails: 0.03,
    code: "unreachable",
    denied: 0.08,
  },
  { tool: "write_file", toolset: "file", share: 3, ms: 4, fails: 0.004, code: "too_large" },
] as const;
const ARGUMENTS: Readonly<Record<(typeof TOOLS)[number]["tool"], object>> = {
  read_file: { path: "src/merge.ts" },
  terminal: { command: "npm test -- merge" },
  search_files: { pattern: "lodash/merge", path: "src" },
  patch: { path: "src/merge.ts", old_string: "lodash/merge", new_string: "./merge.js" },
  web_extract: { urls: ["https://docs.example.org/merge"] },
  execute_code: { code: "print(sum(range(10)))", language: "python" },
  http_request: { url: "https://api.example.org/v1/builds" },
  write_file: { path: "CHANGELOG.md", content: "- merge is fast again\n" },
};
const DOORS = ["chat", "mcp", "http", "cli", "acp"];
const MODELS = ["qwen3-coder", "claude-sonnet-4-5", "gpt-5.1"];

const DAY_MS = 86_400_000;

/** Calls of the last day, more of them by day than by night, some failed, some denied. */
export async function recordDay(
  { runtime }: Dashboard,
  calls = 1_500,
  spanMs: number = DAY_MS,
): Promise<void> {
  const journal = await runtime.journal();
  const random = dice(7);
  const now = Date.now();
  const ages = Array.from({ length: calls }, () => {
    const hour = 12 + 9 * (random() + random() + random() - 1.5);
    const age = Math.min(23.5 * 3_600_000, Math.max(60_000, Math.abs(24 - hour) * 3_600_000 * 0.98));
    return (age * spanMs) / DAY_MS;
  }).sort((one, other) => other - one);
  for (const [index, age] of ages.entries()) {
    const startedAt = now - age;
    let pick = random() * TOOLS.reduce((sum, { share }) => sum + share, 0);
    const one =
      TOOLS.find(({ share }) => {
        pick -= share;
        return pick <= 0;
      }) ?? TOOLS[0];
    const chance = random();
    const isDenied = "denied" in one && chance > 1 - one.denied;
    const isFailed = chance < one.fails;
    const status: CallStatus = isDenied
      ? "denied"
      : isFailed
        ? one.code === "timeout"
          ? "timeout"
          : "error"
        : chance > 0.5 && chance < 0.504
          ? "cancelled"
          : "ok";
    const model = MODELS[Math.floor(random() * MODELS.length)];
    const entry = await journal.begin({
      callId: `day_${spanMs}_${index}`,
      sessionId: `s${index % 9}`,
      tool: one.tool,
      calledAs: one.tool,
      door: DOORS[Math.floor(random() * DOORS.length)] ?? "cli",
      argsJson: JSON.stringify(ARGUMENTS[one.tool]),
      effectsJson: "[]",
      decision: isDenied ? "deny" : "allow",
      rule: isDenied ? "profile:developer/denied_commands" : "profile:developer",
      environment: index % 7 === 0 ? "docker" : "local",
      toolset: one.toolset,
      model,
      approvalWaitMs: random() < 0.01 ? 9_000 * random() : undefined,
      startedAt,
      durableBefore: false,
    });
    const durationMs = status === "timeout" ? 30_000 : one.ms * 10 ** (random() + random() - 1);
    entry.endSoon(() => ({
      status,
      state: "finished" as never,
      ...(status === "ok"
        ? {}
        : {
            errorCode: isDenied ? "denied" : status === "cancelled" ? "cancelled" : one.code,
            errorMessage: `${one.code} in ${one.tool}`,
          }),
      durationMs,
      resultChars: Math.round(200 + random() * 4_000),
      resultHash: "",
      truncated: false,
      ...(one.tool === "execute_code" && {
        usage: { input: 900, cached: 400, cacheWrite: 0, output: 120, costUsd: 0.0021, unbilled: true },
      }),
    }));
  }
  await journal.keepUp();
}

export const STORY: readonly Step[] = [
  {
    when: { tools: true, last: "Merging" },
    text: "Merging got slow when lodash came back in. I replace it with the old helper and write down what changed.",
    calls: [
      {
        id: "call_w1",
        name: "write_file",
        arguments: {
          path: "src/merge.ts",
          content: "export function merge(a: object, b: object) {\n  return { ...a, ...b };\n}\n",
        },
      },
      { id: "call_r1", name: "read_file", arguments: { path: "missing.md" } },
    ],
  },
  {
    when: { tools: true },
    text: "Done: src/merge.ts spreads both objects now, and the zebra benchmark is twice as fast.",
    repeat: "always",
  },
  { text: "Merge helper", repeat: "always" },
];

/** A dashboard whose agent is a scripted model. */
export async function openWithModel(
  steps: readonly Step[] = STORY,
  options: Parameters<typeof openDashboard>[0] = {},
): Promise<Dashboard> {
  const model = await startScriptedModel({ steps });
  onTestEnd(() => model.close());
  return openDashboard({
    ...options,
    runtime: {
      ...options.runtime,
      env: {
        PATH: process.env.PATH,
        ...options.runtime?.env,
        HERMES_MODEL_PROVIDER: "compatible",
        HERMES_MODEL: "scripted",
        HERMES_MODEL_BASE_URL: model.url,
        HERMES_MODEL_API_KEY: "key-of-the-model-1234",
      },
    },
  });
}

/** One turn of a conversation, to its end; returns its id. */
export async function say({ ask }: Dashboard, text: string): Promise<string> {
  const answer = await ask("/v1/chat", { method: "POST", body: JSON.stringify({ text }) });
  await answer.text();
  return answer.headers.get("x-hermes-session") ?? "";
}

export async function makeJobs({ runtime, cwd }: Dashboard): Promise<void> {
  const jobs = jobsOf(runtime);
  await jobs.create({
    schedule: "0 9 * * 1-5",
    name: "outdated",
    script: "echo all up to date",
    workdir: cwd,
  });
  await jobs.create({
    schedule: "every 2h",
    name: "todo count",
    toolCall: { name: "search_files", arguments: { pattern: "TODO" } },
    workdir: cwd,
  });
  await jobs.create(
    { schedule: "30 2 * * *", name: "nightly report", script: "make report", workdir: cwd },
    { paused: true },
  );
}
