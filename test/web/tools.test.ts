// @needs chromium
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { defineTool } from "../../src/index.js";
import { PAYLOADS } from "../server/xss-payloads.js";
import { expectGoodLooks, expectUnharmed } from "./looks.js";
import { makeCalls, openDashboard } from "./server.js";

const DOT =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function taker() {
  const seen: unknown[] = [];
  const tool = defineTool({
    name: "take_all",
    description: "Takes one of everything",
    parameters: {
      type: "object",
      properties: {
        title: { type: "string", description: "What it is called" },
        size: { type: "integer", minimum: 1, maximum: 9 },
        colour: { type: "string", enum: ["red", "green", "blue", "black", "white"] },
        loud: { type: "boolean", default: false },
        labels: { type: "array", items: { type: "string" } },
        headers: { type: "object", additionalProperties: { type: "string" } },
        parts: { type: "array", items: { type: "string", enum: ["a", "b", "c"] } },
        to: { type: ["array", "string"], items: { type: "string" } },
        limits: { type: "object", properties: { depth: { type: "integer" } } },
      },
      required: ["title"],
      additionalProperties: false,
    },
    handler: (given) => {
      seen.push(given);
      return { taken: true };
    },
  });
  return { tool, seen };
}

it("a form made from the schema hands over what was filled in", async () => {
  const { tool, seen } = taker();
  const { tab, problems } = await openDashboard({ tools: [tool], path: "/tools/take_all" });
  const foretold = tab.getByRole("form", { name: "Arguments" }).getByRole("status");
  await foretold.getByText("title: required").waitFor();
  await tab.getByLabel("title", { exact: true }).fill("All of it");
  await foretold.getByText("Would be allowed").waitFor();
  await tab.getByLabel("size", { exact: true }).fill("12");
  await tab.getByText("size").and(tab.locator(".help.bad")).waitFor();
  await tab.getByLabel("size", { exact: true }).fill("7");
  await tab.getByLabel("colour", { exact: true }).selectOption("blue");
  await tab.getByRole("switch", { name: "loud" }).click();
  await tab.getByRole("button", { name: "Add label" }).click();
  await tab.getByLabel("label 1", { exact: true }).fill("bug");
  await tab.getByRole("button", { name: "Add header" }).click();
  await tab.getByLabel("header 1, name").fill("Accept");
  await tab.getByLabel("header 1, value").fill("text/plain");
  await tab.getByRole("checkbox", { name: "b", exact: true }).check();
  await tab
    .getByRole("group", { name: "to", exact: true })
    .getByRole("button", { name: "text", exact: true })
    .click();
  await tab.getByLabel("to", { exact: true }).and(tab.locator("input, textarea")).fill("ada");
  await tab.getByLabel("depth", { exact: true }).fill("3");
  await expectGoodLooks(tab);
  await tab.getByLabel("depth", { exact: true }).press("Control+Enter");
  await tab.getByRole("region", { name: "Result" }).getByText("taken").waitFor();
  const given = {
    title: "All of it",
    size: 7,
    colour: "blue",
    loud: true,
    labels: ["bug"],
    headers: { Accept: "text/plain" },
    parts: ["b"],
    to: "ada",
    limits: { depth: 3 },
  };
  expect(seen).toEqual([given]);

  await tab.getByRole("button", { name: "JSON", exact: true }).first().click();
  expect(JSON.parse(await tab.getByLabel("Arguments as JSON").inputValue())).toEqual(given);
  await tab.getByLabel("Arguments as JSON").fill('{"title": "By hand"}');
  await tab.getByRole("button", { name: "Run", exact: true }).click();
  await expect.poll(() => seen.at(-1)).toEqual({ title: "By hand", loud: false });
  await tab.getByRole("button", { name: "Form" }).click();
  expect(await tab.getByLabel("title", { exact: true }).inputValue()).toBe("By hand");
  expect(problems).toEqual([]);
});

it("a run that needs a yes waits for it beside the form", async () => {
  const { tab, problems } = await openDashboard({ path: "/tools/terminal" });
  await tab.getByLabel("command", { exact: true }).fill("mkdir -p build && rm -rf build && echo gone");
  await tab.getByText("Somebody would be asked").waitFor();
  await tab.getByRole("button", { name: "Run", exact: true }).click();
  const result = tab.getByRole("region", { name: "Result" });
  await result.getByRole("button", { name: "Once" }).waitFor();
  await tab.waitForTimeout(600);
  await result.getByRole("button", { name: "Once" }).click();
  await result.getByText("gone", { exact: false }).last().waitFor();
  await result.getByText("exit 0").waitFor();
  await tab.getByRole("region", { name: "Earlier calls" }).getByText("rm -rf build").waitFor();
  expect(problems).toEqual([]);
});

it("results come as picture, table and changes", async () => {
  const shape = (name: string, give: () => unknown) =>
    defineTool({
      name,
      description: name,
      parameters: { type: "object", properties: {} },
      handler: give as () => Record<string, unknown>,
    });
  const { tab, show, problems } = await openDashboard({
    tools: [
      defineTool({
        name: "give_picture",
        description: "A dot",
        parameters: { type: "object", properties: {} },
        handler: () => "dot",
        present: () => ({ model: [{ type: "image", data: DOT, mimeType: "image/png" }], human: "a dot" }),
      }),
      shape("give_rows", () => ({ items: [{ id: 1042, title: "Export drops the last row" }] })),
      shape("give_diff", () => ({ diff: "--- a\n+++ b\n@@ -1 +1 @@\n-old line\n+new line\n" })),
    ],
  });
  const run = async (name: string) => {
    await show(`/tools/${name}`);
    await tab.getByRole("button", { name: "Run", exact: true }).click();
    return tab.getByRole("region", { name: "Result" });
  };
  const picture = (await run("give_picture")).getByRole("img");
  await expect
    .poll(() => picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
    .toBe(1);
  const rows = await run("give_rows");
  await rows.getByRole("cell", { name: "Export drops the last row" }).waitFor();
  await rows.getByText("1 row from items").waitFor();
  const changes = await run("give_diff");
  await changes.locator(".ln.add", { hasText: "new line" }).waitFor();
  await expectGoodLooks(tab);
  expect(problems).toEqual([]);
});

it("tools are found, opened by keys and switched off, and the configuration says so", async () => {
  const { tab, home, show, problems } = await openDashboard({ path: "/tools" });
  await tab.keyboard.press("/");
  await tab.keyboard.type("dns");
  await tab.getByRole("link", { name: "dns_lookup" }).waitFor();
  expect(new URL(tab.url()).search).toBe("?q=dns");
  await tab.getByRole("link", { name: "dns_lookup" }).focus();
  await tab.keyboard.press("Enter");
  await tab.getByRole("heading", { name: "dns_lookup" }).waitFor();
  expect(new URL(tab.url()).pathname).toBe("/tools/dns_lookup");
  await tab.getByRole("switch", { name: "Offer dns_lookup to models" }).click();
  await tab.getByText("Off: ").waitFor();
  expect(readFileSync(join(home, "config.yaml"), "utf8")).toContain("dns_lookup");
  await show("/tools?show=off");
  await tab.getByRole("link", { name: "dns_lookup" }).waitFor();
  await show("/tools/nothing_of_that_name");
  await tab.getByText("There is no tool of this name").waitFor();
  expect(problems.filter((one) => !one.includes("404"))).toEqual([]);
});

it("a tool that needs set-up says why and how", async () => {
  const { tab, problems, ask } = await openDashboard();
  const tools = (await (await ask("/v1/tools?detail=1")).json()) as
    | { name: string; available: boolean; fix?: string }[]
    | { tools: { name: string; available: boolean; fix?: string }[] };
  const missing = ("tools" in tools ? tools.tools : tools).find(
    (tool) => !tool.available && tool.fix !== undefined,
  );
  if (missing === undefined) return;
  await tab.goto(new URL(`/tools/${missing.name}`, tab.url()).href);
  await tab
    .getByText(missing.fix ?? "")
    .first()
    .waitFor();
  await tab.getByRole("button", { name: "Copy fix" }).click();
  expect(missing.fix).toContain(await tab.evaluate("navigator.clipboard.readText()"));
  await expectGoodLooks(tab);
  expect(problems).toEqual([]);
});

it("a scorecard says what was got wrong, and what the description could say", async () => {
  const board = await openDashboard();
  const { tab, show, runtime, problems } = board;
  const session = await runtime.openSession();
  for (let call = 0; call < 6; call += 1) await session.call({ name: "sleep", arguments: { seconds: "0" } });
  await session.call({ name: "sleep", arguments: { minutes: 1 } });
  session.close();
  await show("/tools/sleep?tab=score");
  const models = tab.getByRole("group", { name: "By model, table" });
  await models.locator("tbody tr").first().waitFor();
  expect(await models.locator("tbody tr").allTextContents()).toEqual([
    expect.stringMatching(/^no model71.*1 invalid_arguments$/),
  ]);
  const hints = tab.getByRole("region", { name: "What its description could say" });
  expect(await hints.locator("li").first().textContent()).toContain("seconds");
  await expectGoodLooks(tab);
  await show("/tools/read_file?tab=score");
  await tab.getByText("Nobody has called it yet").waitFor();
  expect(problems).toEqual([]);
});

it("hostile words of a tool and its results stay words", async () => {
  const attack = PAYLOADS.join("\n");
  const tool = defineTool({
    name: "attack",
    description: attack,
    toolset: "attack",
    parameters: { type: "object", properties: { text: { type: "string", description: attack } } },
    examples: [{ title: PAYLOADS[2] ?? "", arguments: { text: attack }, result: {} }],
    handler: () => ({ rows: [{ [PAYLOADS[4] ?? ""]: attack }], diff: `@@ -1 +1 @@\n+${attack}` }),
  });
  const { tab, show, problems } = await openDashboard({ tools: [tool], path: "/tools/attack" });
  await tab.getByRole("combobox", { name: "Fill in an example" }).selectOption("0");
  await tab.getByRole("button", { name: "Run", exact: true }).click();
  const result = tab.getByRole("region", { name: "Result" });
  for (const view of ["Table", "JSON", "Changes"]) {
    await result.getByRole("button", { name: view }).click();
    await expectUnharmed(tab);
  }
  for (const view of ["schema", "model", "calls", "score"]) {
    await show(`/tools/attack?tab=${view}`);
    await expectUnharmed(tab);
  }
  await show(`/tools/${encodeURIComponent(PAYLOADS[0] ?? "")}`);
  await expectUnharmed(tab);
  expect(problems.filter((one) => !one.includes("404"))).toEqual([]);
});

it("the list of tools and a tool with calls look right in both themes and widths", async () => {
  const board = await openDashboard();
  await makeCalls(board);
  await board.show("/tools");
  await expectGoodLooks(board.tab);
  await board.show("/tools/read_file?tab=schema");
  await expectGoodLooks(board.tab);
  await board.show("/tools/terminal?tab=calls");
  await expectGoodLooks(board.tab);
});
