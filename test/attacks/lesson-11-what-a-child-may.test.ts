import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testRuntime } from "../support/runtime.js";

const RULES = `
profiles:
  parent:
    allow: ["file:*", "terminal:execute"]
    approval_required: ["terminal:execute"]
  child:
    allow: ["*"]
`;

async function bench(profile: string) {
  const asked: string[] = [];
  const { runtime, home, cwd } = await testRuntime([], { builtins: true });
  writeFileSync(join(home, "hermes_permissions.yaml"), RULES);
  const session = await runtime.openSession({
    profile,
    approver: {
      async ask(request) {
        asked.push(request.session.id);
        return "session";
      },
    },
  });
  return { runtime, session, asked, cwd };
}

describe("lesson 11: a child has what its parent has, or less", () => {
  it("the profile of the parent holds in children and grandchildren", async () => {
    const { session, cwd } = await bench("readonly_research");
    for (const opened of [session.openChild(), session.openChild().openChild({ door: "script" })]) {
      expect(opened.profile).toBe("readonly_research");
      const result = await opened.call({ name: "write_file", arguments: { path: "a", content: "a" } });
      expect(result.error?.code).toBe("denied");
    }
    expect(existsSync(join(cwd, "a"))).toBe(false);
  });

  it("a child's own profile narrows and never widens", async () => {
    const { session, cwd } = await bench("parent+readonly_research");
    writeFileSync(join(cwd, "a.txt"), "a");
    expect((await session.call({ name: "read_file", arguments: { path: "a.txt" } })).ok).toBe(true);
    expect(
      (await session.call({ name: "write_file", arguments: { path: "b", content: "b" } })).error?.code,
    ).toBe("denied");
    const wide = await bench("readonly_research+child");
    expect((await wide.session.call({ name: "terminal", arguments: { command: "true" } })).error?.code).toBe(
      "denied",
    );
  });

  it("a child's question goes to the person at the root; its yes goes down to children, not up", async () => {
    const { session, asked } = await bench("parent");
    const child = session.openChild();
    expect((await child.call({ name: "terminal", arguments: { command: "true" } })).ok).toBe(true);
    expect((await session.call({ name: "terminal", arguments: { command: "true" } })).ok).toBe(true);
    expect(asked).toEqual([child.id, session.id]);
    const second = session.openChild();
    expect((await second.call({ name: "terminal", arguments: { command: "true" } })).ok).toBe(true);
    expect(asked).toEqual([child.id, session.id]);
  });

  it("a model is offered no more by a child than by its parent", async () => {
    const { session } = await bench("readonly_research");
    const names = async (opened: typeof session) =>
      (await opened.definitions()).map((definition) => definition.function.name);
    const parents = await names(session);
    expect(parents).toContain("read_file");
    expect(parents).not.toContain("terminal");
    expect(parents).not.toContain("write_file");
    expect(await names(session.openChild())).toEqual(parents);
    const child = await names(session.openChild({ tools: ["read_file", "terminal"] }));
    expect(child).toEqual(["read_file"]);
  });

  it("an unknown profile opens nothing", async () => {
    const { runtime } = await bench("parent");
    await expect(runtime.openSession({ profile: "parent+chidl" })).rejects.toThrow(/Did you mean child/);
  });
});
