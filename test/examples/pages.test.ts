import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { SETTING_TABLE } from "../../src/cli/migrate/setting-table.js";
import { root } from "../cli/hermes.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { codeBlocks, commandLines, hermesCommands } from "./doc-commands.js";
import { type Granted, piecesOf, runPage } from "./page-runner.js";

/** Many short programs one after the other. */
const PATIENCE = { timeout: 120_000 };

/** Pages whose commands another test reads and runs, with the servers and files that they take. */
const READ_BY: Readonly<Record<string, string>> = {
  "README.md": "test/examples/readme.test.ts",
  "docs/approvals.md": "test/examples/approvals.test.ts",
  "docs/authoring.md": "test/examples/examples.test.ts",
  "docs/environments.md": "test/examples/environments.test.ts",
  "docs/openapi.md": "test/sources/yaml/docs.test.ts",
  "docs/permissions.md": "test/policy/profiles-docs.test.ts",
  "docs/plugins.md": "test/cli/plugins.test.ts",
  "docs/scorecards.md": "test/cli/scorecard.test.ts",
  "docs/yaml-tools.md": "test/sources/yaml/docs.test.ts",
};

/** Commands that no reader types into a test: they take a terminal, a platform, an engine, a network. What tries them instead. */
const TRIED_BY: Readonly<Record<string, readonly string[]>> = {
  // Both make the clone ready in the same way; how the server then runs is in test/server/serve-command.test.ts.
  "test/build/test-command.test.ts": ["npm start", "npm test"],
  "test/build/pack.test.ts": [
    "npm link",
    "npm install -g hermes-tools",
    "packaging/upgrade /opt/hermes hermes-tools@1.2.3",
    "packaging/upgrade /opt/hermes --back",
    "ln -s /opt/hermes/current/node_modules/.bin/hermes /usr/local/bin/hermes",
  ],
  "test/build/image.test.ts": [
    "docker build -t hermes-tools .",
    'docker run -d --name hermes -p 127.0.0.1:9119:9119 -e HERMES_TOKEN="$(openssl rand -hex 32)" -v hermes:/data -v "$PWD:/work" hermes-tools',
    "docker exec hermes hermes open --no-browser",
  ],
  "test/build/compose.test.ts": [
    "cd packaging && cp compose.env.example .env",
    "docker compose up -d --build",
  ],
  "test/cli/tool-authors.test.ts": [
    "hermes call NAME key=value …",
    "hermes tools info NAME",
    "hermes tools check NAME",
  ],
  "test/chat/turns.test.ts": ["hermes chat", "hermes chat --resume last", "hermes chat --plan"],
  "test/cli/setup-browser.test.ts": ["hermes setup browser --check", "hermes setup browser"],
  "test/cli/setup-model.test.ts": [
    "hermes setup model",
    "hermes setup model --provider anthropic --name claude-sonnet-4-5 --key-stdin < key.txt",
  ],
  "test/cluster/calls.test.ts": [
    "nats-server -js -sd /var/lib/nats",
    "export HERMES_CLUSTER_KEY=…",
    "hermes worker --cluster nats://10.0.0.5:4222",
    "hermes worker --cluster nats://10.0.0.5:4222 --labels gpu,region=eu --toolsets terminal,file",
    "hermes serve --cluster nats://10.0.0.5:4222",
    "hermes call terminal command=nvidia-smi --labels gpu --cluster nats://10.0.0.5:4222",
    "hermes cluster status --cluster nats://10.0.0.5:4222",
  ],
  "test/stories/gateway.test.ts": ["hermes gateway run"],
  "test/gateway/processes.test.ts": ["hermes gateway pair K7QX2MPA", "hermes gateway pair K7QX2MPA --guest"],
  "test/tools/messaging/send-message.test.ts": [
    "hermes call send_message target=telegram:42 message='The build is done.'",
  ],
  "test/conformance/gateway-webhook.test.ts": [
    `body='{"text":"Which tests failed last night?"}'`,
    "t=$(date +%s)",
    `v1=$(printf '%s.%s' "$t" "$body" | openssl dgst -sha256 -hmac a-long-random-text -r | cut -d' ' -f1)`,
    `curl -H "X-Hermes-Signature: t=$t,v1=$v1" -d "$body" http://127.0.0.1:9119/hooks/build`,
  ],
  "test/server/serve-command.test.ts": ["hermes serve", "hermes serve --port 0", "hermes serve --json"],
  "test/server/mcp/peers.test.ts": [
    "npx @modelcontextprotocol/inspector hermes mcp serve",
    "npx @modelcontextprotocol/inspector --cli hermes mcp serve --method tools/list",
  ],
  "test/cli/mcp.test.ts": [
    "hermes mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes",
    "hermes mcp add tracker --url https://tracker.example/mcp --auth oauth",
    "hermes mcp login tracker",
  ],
  "test/cli/plugins.test.ts": ["hermes plugins new NAME", "hermes plugins enable NAME"],
  "test/stories/skills.test.ts": [
    "hermes skills accept NAME",
    "hermes skills reject NAME",
    "hermes skills remove NAME",
  ],
};
const leftOut = new Set(Object.values(TRIED_BY).flat());

/** Written from the program itself. */
const GENERATED = ["docs/commands.md", "docs/api.md"];
const PAGES = ["README.md", ...readdirSync(join(root, "docs")).map((name) => `docs/${name}`)].filter(
  (name) => name.endsWith(".md") && !GENERATED.includes(name),
);
const shellCommands = (page: string) =>
  codeBlocks(page, "sh").flatMap((block) => commandLines(block).map(({ line }) => line));
const isRunHere = (page: string) => !(page in READ_BY) && piecesOf(page, leftOut).length > 0;

interface Setting extends Granted {
  /** What the model says, in turn. */
  readonly model?: readonly string[];
}

const skill = (name: string, text: string) =>
  `mkdir ${name} && printf '%s\\n' --- 'name: ${name}' 'description: ${text}' --- '${text}.' > ${name}/SKILL.md`;
const SETTINGS: Readonly<Record<string, Setting>> = {
  "docs/getting-started.md": { model: ["Hello! What shall we do?"] },
  "docs/chat.md": { model: ["None."] },
  "docs/conversations.md": {
    model: ["The migration is done."],
    before: ['hermes chat -q "How is the database migration?"', "hermes config set model.budget_usd 1"],
    given: { ID: "last" },
  },
  "docs/http-api.md": { model: ["Nothing yet."], before: ["hermes serve &"] },
  "docs/migrate.md": { before: ["mkdir ~/.hermes"] },
  "docs/models.md": { model: ["OK", "OK"] },
  "docs/replay.md": {
    model: ["Hello."],
    before: ['hermes chat -q "hello"'],
    given: { ID: "last" },
  },
  "docs/skills.md": {
    before: [
      skill("minutes", "How the notes of a meeting are written"),
      skill("release", "What to do before a version is published"),
      "hermes skills install minutes",
    ],
    given: { NAME: "minutes", FOLDER: "release" },
  },
  "docs/undo.md": {
    before: [
      `echo '{"tool_calls":[{"id":"call_3","name":"write_file","arguments":{"path":"a.txt","content":"a"}}]}' | hermes run`,
      "hermes call write_file path=b.txt content=b",
      "hermes call write_file path=c.txt content=c",
    ],
    given: { "undo 17": "undo 2" },
  },
};

describe("the pages, run from top to bottom", () => {
  it.concurrent.each(PAGES.filter(isRunHere))("%s", PATIENCE, async (page) => {
    const { model = [], env = {}, ...granted } = SETTINGS[page] ?? {};
    await using server = await startScriptedModel({ steps: model.map((text) => ({ text })) });
    const asked = model.length === 0 ? {} : { OPENAI_API_KEY: "key", OPENAI_BASE_URL: server.url };
    const run = await runPage(page, {
      ...granted,
      env: { ...asked, ...env },
      given: { "http://127.0.0.1:8080": server.url, ...granted.given },
      leftOut,
    });
    expect(run).toBeGreaterThan(0);
  });
});

describe("no command of a page is left out in silence", () => {
  it.each(PAGES)("%s", (page) => {
    const test = READ_BY[page];
    if (test !== undefined) {
      expect(readFileSync(join(root, test), "utf8")).toContain(`hermesCommands("${page}")`);
      const read = new Set(hermesCommands(page).map(({ line }) => line));
      for (const line of shellCommands(page)) expect(read.has(line) || leftOut.has(line), line).toBe(true);
    }
    // What is typed stands in blocks that say so.
    for (const language of ["", "bash", "text", "shell"])
      for (const block of codeBlocks(page, language))
        expect(block).not.toMatch(/^(?:\$ )?(?:hermes|npm|npx|docker|curl) /m);
  });

  it("what is tried elsewhere stands on a page, and its test is there", () => {
    const shown = new Set(PAGES.flatMap(shellCommands));
    expect([...leftOut].filter((line) => !shown.has(line))).toEqual([]);
    for (const test of Object.keys(TRIED_BY)) expect(existsSync(join(root, test)), test).toBe(true);
  });
});

const docs = (page: string) => readFileSync(join(root, "docs", page), "utf8");

describe("the pages", () => {
  it("docs/README.md leads to every page there is", () => {
    const index = docs("README.md");
    for (const page of readdirSync(join(root, "docs")).filter(
      (name) => name.endsWith(".md") && name !== "README.md",
    ))
      expect(index, page).toContain(`(${page})`);
  });

  it("lead nowhere that does not exist, and each of the new ones says what next", () => {
    for (const page of [
      "README.md",
      "getting-started.md",
      "concepts.md",
      "migrate.md",
      "faq.md",
      "write-an-environment.md",
      "operating.md",
    ]) {
      const text = docs(page);
      for (const [, target = ""] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g))
        expect(existsSync(join(root, dirname(`docs/${page}`), target)), `${page} → ${target}`).toBe(true);
      if (page !== "README.md") expect(text, page).toContain("\n## What next\n");
    }
  });

  it("docs/migrate.md has the table that the command goes by", () => {
    const rows = SETTING_TABLE.map(({ from, to, take, adds }) => {
      const how =
        adds === true
          ? "added to what is here"
          : take === undefined
            ? ""
            : "as far as it fits; see the report";
      return `| \`${from}\` | \`${to}\` | ${how} |`;
    });
    const table = ["", "| in Hermes Agent | here | |", "|---|---|---|", ...rows, ""].join("\n");
    const written = docs("migrate.md").replace(
      /(<!-- settings:.*-->)[\s\S]*(<!-- \/settings -->)/,
      `$1${table}$2`,
    );
    if (process.env.UPDATE_DOCS !== undefined) writeFileSync(join(root, "docs", "migrate.md"), written);
    expect(docs("migrate.md")).toBe(written);
  });
});
