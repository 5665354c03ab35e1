import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorLine, hermes, hermesJson, tempFolder } from "./hermes.js";

describe("hermes replay", () => {
  it("of a session of the journal or its tape: 0 while nothing has changed, 3 when the rules have", async () => {
    const home = tempFolder();
    const cwd = tempFolder();
    writeFileSync(join(cwd, "a.txt"), "hello\n");
    await hermes(["call", "read_file", "path=a.txt"], { home, cwd });
    const [recorded] = await hermesJson<{ session_id: string }[]>(["calls"], { home });
    const session = recorded?.session_id ?? "";

    const exported = await hermes(["sessions", "export", session, "--format", "tape"], { home });
    const file = join(cwd, "story.jsonl");
    writeFileSync(file, exported.stdout);
    for (const wanted of [session, file]) {
      const same = await hermes(["replay", wanted, "--json"], { home });
      expect(same.code).toBe(0);
      expect(JSON.parse(same.stdout)).toEqual({ session, calls: 1, same: 1, different: [], unknown: 0 });
    }

    writeFileSync(join(home, "hermes_permissions.yaml"), "global: {deny: [file:read]}\n");
    const changed = await hermes(["replay", file, "--json"], { home });
    expect(changed.code).toBe(3);
    expect(JSON.parse(changed.stdout)).toMatchObject({
      same: 0,
      different: [{ name: "read_file", why: expect.stringContaining("would be denied (global/file:read)") }],
    });
    const shown = await hermes(["replay", file], { home });
    expect(shown.stdout).toContain("1 calls, 0 as they were");
  });

  it("says what it was looking for", async () => {
    const home = tempFolder();
    const missing = await hermes(["replay", "nowhere", "--json"], { home });
    expect(missing.code).toBe(2);
    expect(errorLine(missing)).toMatchObject({ code: "not_found" });
    writeFileSync(join(home, "x.jsonl"), "hello\n");
    const wrong = await hermes(["replay", join(home, "x.jsonl"), "--json"], { home });
    expect(errorLine(wrong)).toMatchObject({
      code: "bad_request",
      message: expect.stringContaining("line 1 is not JSON"),
    });
  });
});
