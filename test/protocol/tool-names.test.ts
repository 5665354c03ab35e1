import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalizeToolName } from "../../src/protocol/index.js";

describe("dressed-up tool names", () => {
  it.each([
    ["functions.web_search", "web_search"],
    ["functions::web_search", "web_search"],
    ["tools.functions.web_search", "web_search"],
    ["default_api:web_search", "web_search"],
    ["web_searchweb_search", "web_search"],
    ["functions.web_searchfunctions.web_search", "web_search"],
    ["mcp__github__create_issue", "mcp_github_create_issue"],
    ["WebSearch", "web_search"],
    ["webSearchTool", "web_search"],
    ["HTTPRequest", "http_request"],
    ["web-search", "web_search"],
    [" WEB_SEARCH\n", "web_search"],
    ["`web_search`", "web_search"],
    ["web_search()", "web_search"],
    ["web_search<|channel|>commentary", "web_search"],
  ])("%j may mean %s", (given, meant) => {
    expect(normalizeToolName(given)).toContain(meant);
  });

  it("a name that is fine has one spelling", () => {
    expect(normalizeToolName("read_file")).toEqual(["read_file"]);
    expect(normalizeToolName("")).toEqual([""]);
    expect(normalizeToolName("x".repeat(10_000))).toHaveLength(1);
  });

  it("any name gives the name itself first, then other names, none empty or twice", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: "grapheme" }), (name) => {
        const spellings = normalizeToolName(name);
        expect(spellings[0]).toBe(name);
        expect(new Set(spellings).size).toBe(spellings.length);
        expect(spellings).not.toContain("");
      }),
    );
  });
});
