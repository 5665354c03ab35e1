import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { SETTING_TABLE } from "../../src/cli/migrate/setting-table.js";
import { root } from "../cli/hermes.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { runPage } from "./page-runner.js";

/** Many short programs one after the other. */
const PATIENCE = { timeout: 120_000 };

const docs = (page: string) => readFileSync(join(root, "docs", page), "utf8");

describe("the pages for readers, run from top to bottom", () => {
  it.concurrent("docs/getting-started.md", PATIENCE, async () => {
    await using model = await startScriptedModel({ steps: [{ text: "Hello! What shall we do?" }] });
    const env = { OPENAI_API_KEY: "key", OPENAI_BASE_URL: model.url };
    expect(await runPage("docs/getting-started.md", env)).toBeGreaterThan(15);
  });

  it.concurrent.each(["concepts", "migrate", "faq", "write-an-environment", "operating"])(
    "docs/%s.md",
    PATIENCE,
    async (page) => {
      expect(await runPage(`docs/${page}.md`)).toBeGreaterThan(3);
    },
  );
});

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
