import { describe, expect, it } from "vitest";
import { compileGlob, expandBraces, segmentsOf } from "../../src/base/glob.js";
import { wildcardMatches } from "../../src/base/wildcard.js";

describe("globs", () => {
  const matches = (pattern: string, path: string, purpose: "allow" | "deny" = "allow") =>
    compileGlob(pattern, { cwd: "/w", home: "/h", purpose })?.matches(segmentsOf(path));

  it.each([
    ["/w/*", "/w/a", true],
    ["/w/*", "/w/.a", true],
    ["/w/*", "/w", false],
    ["/w/*", "/w/a/b", false],
    ["/w/**", "/w", true],
    ["/w/**/", "/w/a/b", true],
    ["/w/**/x.ts", "/w/x.ts", true],
    ["/w/**/x.ts", "/w/a/b/x.ts", true],
    ["/w/**/a/**/b", "/w/a/a/c/b", true],
    ["/w/**/a/**/b", "/w/b/a", false],
    ["/w/a**b", "/w/axxb", true],
    ["/w/a**b", "/w/ax/xb", false],
    ["/w/v?", "/w/v1", true],
    ["/w/v?", "/w/v12", false],
    ["/w/?", "/w/😀", true],
    ["/w/[a-c]x", "/w/bx", true],
    ["/w/[!a-c]x", "/w/bx", false],
    ["/w/[", "/w/[", true],
    ["/w/\\*", "/w/*", true],
    ["/w/\\*", "/w/a", false],
    ["/w/{a,b/c}/d", "/w/b/c/d", true],
    ["/w/{a,b}/d", "/w/c/d", false],
    ["/w/{a}", "/w/{a}", true],
    ["**/*.pem", "/x/y/k.pem", true],
    ["**", "/", true],
    ["~/x/**", "/h/x/y", true],
    ["src/**", "/w/src/a", true],
    ["src/**", "/v/src/a", false],
    ["/w//a/./b", "/w/a/b", true],
  ])("%s on %s: %s", (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected);
  });

  it("a closed relative name is closed at every depth", () => {
    expect(matches(".env", "/elsewhere/deep/.env", "deny")).toBe(true);
    expect(matches("secrets/**", "/w/a/secrets/k", "deny")).toBe(true);
  });

  it("know what lies below a folder", () => {
    const below = (pattern: string, folder: string) =>
      compileGlob(pattern, { cwd: "/w", home: "/h", purpose: "deny" })?.below(segmentsOf(folder));
    expect(below("/w/secrets/**", "/w")).toBe("named");
    expect(below("/w/secrets/**", "/w/src")).toBe("no");
    expect(below("**/.env", "/w/src")).toBe("anywhere");
    expect(below("/w/*/keys", "/w/a")).toBe("named");
    expect(below("/w/file", "/w/file/deeper")).toBe("no");
  });

  it("braces stay small", () => {
    expect(expandBraces("{a,b}{c,d}")).toEqual(["ac", "ad", "bc", "bd"]);
    expect(expandBraces("{a,{b,c}}")).toEqual(["a", "b", "c"]);
    expect(expandBraces("{a,b}".repeat(20))).toBeUndefined();
  });

  it("take no longer for patterns made to be slow", () => {
    const counted = (length: number) => {
      const pattern = `/w/${"*a".repeat(40)}b`;
      const glob = compileGlob(pattern, { cwd: "/", home: "/", purpose: "allow" });
      return glob?.matches(["w", "a".repeat(length)]);
    };
    expect(counted(50_000)).toBe(false);
    expect(wildcardMatches(`${"*a".repeat(200)}b`, "a".repeat(20_000))).toBe(false);
    const deep = compileGlob(`/${"**/a/".repeat(60)}b`, { cwd: "/", home: "/", purpose: "allow" });
    expect(deep?.matches(Array(2000).fill("a"))).toBe(false);
  });
});
