import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorLine, hermes, hermesJson, tempFolder } from "./hermes.js";

const ON = { HERMES_TOOLS_TOOL_SEARCH_ENABLED: "on" };

/** A home with one tool that can be hidden. */
const home = tempFolder();
mkdirSync(join(home, "tools"));
writeFileSync(
  join(home, "tools", "shop.yaml"),
  `tools:
  - name: shop_refund
    description: ${"Pays the price of an order back to the customer. ".repeat(40)}
    toolset: shop
    type: command
    command: ["echo", "{{order}}"]
    parameters: [{ name: order, type: string, required: true }]
`,
);

interface Size {
  readonly total: { readonly tokens: number };
  readonly tool_search: Readonly<
    Record<"sent_tokens" | "without_tokens" | "with_tokens" | "hidden_tools", number>
  > & {
    readonly active: boolean;
  };
  readonly tools: readonly { readonly name: string; readonly deferrable: boolean }[];
  readonly toolsets: Readonly<Record<string, { readonly tokens: number; readonly with_search: number }>>;
}

describe("Tool Search on the command line", () => {
  it("tools size: the bill per toolset with and without it, active or not", async () => {
    const [off, on, people, active] = await Promise.all([
      hermesJson<Size>(["tools", "size"], { home }),
      hermesJson<Size>(["tools", "size"], { home, env: ON }),
      hermes(["tools", "size"], { home }),
      hermes(["tools", "size"], { home, env: ON }),
    ]);
    expect(off.tool_search).toMatchObject({ active: false, hidden_tools: 0, sent_tokens: off.total.tokens });
    const hidden = on.tools.filter(({ deferrable }) => deferrable).map(({ name }) => name);
    // What the person's files bring, and built-in tools that are not basic.
    expect(hidden).toEqual(expect.arrayContaining(["shop_refund", "dns_lookup"]));
    expect(hidden).not.toContain("read_file");
    expect(on.tool_search).toMatchObject({ active: true, hidden_tools: hidden.length });
    expect(on.tool_search.sent_tokens).toBe(off.tool_search.with_tokens);
    expect(on.tool_search.with_tokens).toBeLessThan(on.tool_search.without_tokens);
    for (const { toolsets, tool_search } of [off, on]) {
      const rows = Object.values(toolsets);
      expect(rows.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(tool_search.without_tokens);
      expect(rows.reduce((sum, { with_search }) => sum + with_search, 0)).toBe(tool_search.with_tokens);
      expect(toolsets.shop).toMatchObject({ with_search: 0 });
      expect(toolsets.file?.with_search).toBe(toolsets.file?.tokens);
    }
    expect(people.stdout).toMatch(/^shop .*1 tools .* 0 with Tool Search$/m);
    expect(people.stdout).toContain(`not active now, would hide ${hidden.length}`);
    expect(active.stdout).toContain(`${on.tool_search.sent_tokens} tokens (`);
  });

  it("tools explain: what is switched off is not behind the search", async () => {
    const explain = (flags: readonly string[]) =>
      hermesJson([...flags, "tools", "explain", "shop_refund"], { home, env: ON });
    expect(await explain([])).toMatchObject({ offered: true, behind_search: true });
    expect(await explain(["-t", "file"])).toMatchObject({ offered: false, behind_search: false });
  });

  it("tools search: a limit that is none is refused", async () => {
    const done = await hermes(["tools", "search", "refund", "--limit", "many", "--json"], { home });
    expect(done.code).toBe(2);
    expect(errorLine(done).message).toContain("--limit many");
    const [found] = await hermesJson<{ name: string }[]>(["tools", "search", "refund", "--limit", "1"], {
      home,
    });
    expect(found?.name).toBe("shop_refund");
  });

  it("call and permissions explain: about the tool that is meant", async () => {
    const inner = JSON.stringify({ name: "shop_refund", arguments: { order: "7" } });
    const [explained, dry] = await Promise.all([
      hermesJson(["permissions", "explain", "tool_call", inner], { home, env: ON }),
      hermesJson(["--dry-run", "call", "tool_call", inner], { home, env: ON }),
    ]);
    expect(explained).toMatchObject({ name: "shop_refund", verdict: expect.any(String) });
    expect(dry).toMatchObject({ name: "shop_refund", args: { order: "7" } });
  });
});

it("tools explain: says how often a tool was called that is hidden for it", async () => {
  const home = tempFolder();
  const one = (index: number) => ({
    id: `c${index}`,
    type: "function",
    function: { name: "read_file", arguments: '{"path":"nowhere"}' },
  });
  const message = { role: "assistant", tool_calls: Array.from({ length: 100 }, (_, index) => one(index)) };
  await hermes(["run"], { home, stdin: JSON.stringify(message) });
  await hermes(["config", "set", "tools.tool_search.auto_defer", "true"], { home });
  const explained = (name: string) =>
    hermesJson<Record<string, unknown>>(["tools", "explain", name], { home });
  expect(await explained("dns_lookup")).toMatchObject({
    behind_search: true,
    hidden_because: "called 0 times in the last 30 days (tools.tool_search.auto_defer)",
  });
  expect(await explained("read_file")).toMatchObject({ behind_search: false });
  expect((await hermes(["tools", "explain", "dns_lookup"], { home })).stdout).toContain("called 0 times");
});
