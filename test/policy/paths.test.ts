import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { describedFiles } from "../../src/policy/paths/file-view.js";
import { judgePath, type PathQuestion } from "../../src/policy/paths/judge-path.js";
import { tempDir } from "../support/runtime.js";

interface Row {
  readonly id: string;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  readonly path: unknown;
  readonly cwd: string;
  readonly fs: string;
  readonly op: string;
  readonly expect: string;
  readonly accept?: readonly string[];
}

const fixtures = join(dirname(fileURLToPath(import.meta.url)), "../fixtures/paths");

function rows(name: string): readonly Row[] {
  return readFileSync(join(fixtures, name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
}

const WORKSPACE = { allow: ["/workspace/**", "/tmp/**"], deny: ["/workspace/.env", "/workspace/secrets/**"] };

function verdictOn(path: unknown, options: Partial<PathQuestion> & { readonly fs?: string } = {}): string {
  const files = describedFiles(options.fs ?? "dir /workspace/src; file /workspace/.env; dir /etc");
  if (files === undefined) throw new Error("a step of the test is misspelt");
  return judgePath({ ...WORKSPACE, cwd: "/workspace", home: "/home/agent", ...options, path, files }).verdict;
}

describe("path rules", () => {
  it.each(rows("paths.dev.jsonl"))("row $id", (row) => {
    const files = describedFiles(row.fs);
    expect(files).toBeDefined();
    const { verdict } = judgePath({ ...row, home: "/home/agent", ...(files !== undefined && { files }) });
    expect(row.accept ?? [row.expect]).toContain(verdict);
  });

  it.each<[string, unknown, string]>([
    ["the tree's own root", "/workspace", "allow"],
    ["a dotfile in it", "/workspace/.hidden/.x", "allow"],
    ["a name that only begins like it", "/workspace-evil/x", "deny"],
    ["another case of an allowed tree", "/Workspace/src/a", "deny"],
    ["another case of a closed file", "/workspace/.ENV", "deny"],
    ["another case of a closed tree", "/workspace/SECRETS/x", "deny"],
    ["a climb", "/workspace/src/../../etc/passwd", "deny"],
    ["a climb through what is not there", "/workspace/nope/../.env", "deny"],
    ["climbing above the root", "/../../workspace/a", "allow"],
    ["a relative name", "src/a.ts", "allow"],
    ["a relative climb out", "../etc/passwd", "deny"],
    ["home", "~/x", "deny"],
    ["somebody's home", "~root/x", "deny"],
    ["a tilde inside", "/workspace/~/x", "allow"],
    ["percent signs", "/workspace/%2e%2e/%2e%2e/etc/passwd", "allow"],
    ["a line break", "/workspace/a\nb", "allow"],
    ["NUL", "/workspace/a\0.txt", "deny"],
    ["backslash", "/workspace\\..\\etc", "deny"],
    ["a URL", "file:///etc/passwd", "deny"],
    ["blank", " \t", "deny"],
    ["empty", "", "deny"],
    ["half a character", "/workspace/\ud800", "deny"],
    ["a number", 7, "deny"],
    ["nothing", undefined, "deny"],
    ["an object", { toString: () => "/workspace/a" }, "deny"],
    ["a name too long for any disk", `/workspace/${"a".repeat(256)}`, "deny"],
    ["a path too long for any disk", `/workspace/${"a/".repeat(2100)}x`, "deny"],
  ])("%s", (_what, path, expected) => {
    expect(verdictOn(path)).toBe(expected);
  });

  it.each<[string, string, string, string]>([
    ["a link out", "symlink /workspace/l -> /etc", "/workspace/l/passwd", "deny"],
    ["a link within", "symlink /workspace/l -> src", "/workspace/l/a", "allow"],
    ["a link to a closed file", "symlink /workspace/l -> .env", "/workspace/l", "deny"],
    [
      "a closed name that leads elsewhere",
      "symlink /workspace/secrets -> /tmp",
      "/workspace/secrets/a",
      "deny",
    ],
    ["a link outside that leads in", "symlink /opt/l -> /workspace", "/opt/l/a", "deny"],
    ["a dangling link out", "symlink /workspace/l -> /etc/new", "/workspace/l", "deny"],
    ["a chain", "symlink /workspace/a -> b; symlink /workspace/b -> /etc/x", "/workspace/a", "deny"],
    ["a circle", "symlink /workspace/a -> b; symlink /workspace/b -> a", "/workspace/a/x", "deny"],
    [
      "up from behind a link",
      "dir /etc/deep; symlink /workspace/l -> /etc/deep",
      "/workspace/l/../x",
      "deny",
    ],
    ["the root by another name", "symlink /workspace/l -> /proc/self/root/etc", "/workspace/l/x", "deny"],
  ])("%s", (_what, fs, path, expected) => {
    expect(verdictOn(path, { fs: `dir /workspace/src; file /workspace/.env; ${fs}` })).toBe(expected);
  });

  it.each([
    "/proc/self/root/workspace/a",
    "/proc/1/cwd/a",
    "/proc/self/task/7/fd/3",
    "/dev/fd/3",
    "/dev/stdin",
  ])("%s is refused even where everything is open", (path) => {
    expect(verdictOn(path, { allow: ["**"], deny: [] })).toBe("deny");
  });

  it("no list of allowed paths opens nothing when it is empty, and everything when it is absent", () => {
    expect(verdictOn("/workspace/a", { allow: [] })).toBe("deny");
    expect(verdictOn("/anywhere", { allow: undefined, deny: [] })).toBe("allow");
  });

  it("a closed name is found composed or decomposed", () => {
    const composed = "/workspace/caf\u00e9";
    const decomposed = "/workspace/cafe\u0301";
    expect(verdictOn(decomposed, { deny: [composed] })).toBe("deny");
    expect(verdictOn(composed.toUpperCase(), { deny: [decomposed] })).toBe("deny");
    expect(verdictOn("/workspace/cafe", { deny: [composed] })).toBe("allow");
  });

  it("closes what a closed link leads to, when asked to", () => {
    const root = tempDir();
    mkdirSync(join(root, "real"));
    writeFileSync(join(root, "real", "key"), "k");
    symlinkSync("real", join(root, "secrets"));
    const question = {
      deny: [join(root, "secrets/**")],
      path: join(root, "real/key"),
      cwd: root,
      home: root,
    };
    expect(judgePath(question).verdict).toBe("allow");
    expect(judgePath({ ...question, followDeny: true }).verdict).toBe("deny");
  });

  it("says where a path leads and which pattern decided", () => {
    const root = tempDir();
    symlinkSync("/etc", join(root, "l"));
    const judged = judgePath({ allow: [`${root}/**`], path: "l/passwd", cwd: root, home: root });
    expect(judged).toMatchObject({ verdict: "deny", rule: "outside", resolved: "/etc/passwd" });
    const closed = judgePath({ allow: ["**"], deny: ["/etc/**"], path: "l/x", cwd: root, home: root });
    expect(closed).toMatchObject({ verdict: "deny", rule: "deny:/etc/**", resolved: "/etc/x" });
  });

  it("a pattern that cannot be understood opens nothing and closes everything", () => {
    const huge = `/workspace/${"{a,b}".repeat(12)}`;
    expect(verdictOn("/workspace/x", { allow: [huge] })).toBe("deny");
    expect(verdictOn("/workspace/x", { deny: [huge] })).toBe("deny");
  });
});
