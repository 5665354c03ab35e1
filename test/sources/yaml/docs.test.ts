import { spawnSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { root, tempFolder } from "../../cli/hermes.js";
import { codeBlocks, hermesCommands } from "../../examples/doc-commands.js";
import { typed } from "../../examples/shell.js";
import { json, startServer } from "./setup.js";

/** A dozen programs one after the other, each started from nothing. */
const PATIENCE = { timeout: 120_000 };

function place() {
  const home = tempFolder();
  writeFileSync(join(home, "config.yaml"), "security: { allow_private_urls: true }\n");
  writeFileSync(join(home, ".env"), "SHOP_TOKEN=a-token-for-the-shop\n", { mode: 0o600 });
  return home;
}

describe("docs/yaml-tools.md", () => {
  const home = place();

  beforeAll(() => {
    for (const [command, ...args] of [
      ["git", "init", "-q"],
      ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-q", "--allow-empty", "-m", "Begin"],
    ])
      spawnSync(command ?? "", args, { cwd: home });
  });

  it("every command does what its comment says, with the files of the page", PATIENCE, async () => {
    const { base, seen } = await startServer(({ url }, response) => {
      if (url.startsWith("/v1/articles"))
        json(response, {
          articles: [
            { name: "desk lamp", stock: 2 },
            { name: "old lamp", stock: 0 },
          ],
        });
      else json(response, { id: "o-1", sum: { amount: 30 } });
    });
    const files = codeBlocks("docs/yaml-tools.md", "yaml");
    expect(files).toHaveLength(4);
    for (const text of files) {
      const name = /^# (\S+\.yaml)\n/.exec(text)?.[1] ?? "";
      writeFileSync(join(home, name), text.replace("https://api.example.com", base));
    }
    for (const { line, comment } of hermesCommands("docs/yaml-tools.md")) {
      const done = await typed(line, { home, cwd: home });
      expect(done, `${line}\n${done.stdout}${done.stderr}`).toMatchObject({ code: 0 });
      if (line.startsWith("hermes call")) expect(done.stdout).toContain(comment);
    }
    expect(seen.map(({ method, url, headers }) => [method, url, headers.authorization])).toEqual([
      ["GET", "/v1/articles?q=lamp&limit=5&colours=red%2Cblue", "Bearer a-token-for-the-shop"],
      ["POST", "/v1/customers/c7/orders", "Bearer a-token-for-the-shop"],
    ]);
    expect(JSON.parse(seen[1]?.body ?? "")).toEqual({ lines: [{ sku: "A1", amount: 2 }] });
  });
});

describe("docs/openapi.md", () => {
  it("every command works on a document like the one it names", PATIENCE, async () => {
    const home = place();
    copyFileSync(join(root, "test/sources/openapi/petstore.yaml"), join(home, "petstore.yaml"));
    const { base } = await startServer((_request, response) => json(response, []));
    const [text = ""] = codeBlocks("docs/openapi.md", "yaml").filter((block) =>
      block.startsWith("services:"),
    );
    const services = text
      .replace("https://pets.example/openapi.json", "petstore.yaml")
      .replace("https://pets.example", base);
    expect(services).toContain(base);
    writeFileSync(join(home, "config.yaml"), `security: { allow_private_urls: true }\n${services}`);
    writeFileSync(join(home, ".env"), "PETS_TOKEN=a-token-for-the-pets\n", { mode: 0o600 });
    for (const { line } of hermesCommands("docs/openapi.md")) {
      const done = await typed(line, { home, cwd: home });
      expect(done, `${line}\n${done.stdout}${done.stderr}`).toMatchObject({ code: 0 });
    }
  });
});
