import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { loadConfig } from "../../src/config/load.js";
import { listGrants, revokeGrant } from "../../src/policy/grants/config-grants.js";
import { decisionOn, run, withPerson } from "../grants/asking.js";
import { tempDir } from "../support/runtime.js";

describe("lesson 2: a grant has a place, a date, an origin and an end", () => {
  it("it counts in its folder, is listed with its uses, and can be taken back while the runtime goes on", async () => {
    const { home, cwd, session, open, runtime } = await withPerson("always");
    const elsewhere = tempDir();
    await run(session, "rm -rf ./tmp");
    expect(await decisionOn(await open(), "rm -rf ./tmp")).toBe("allow");
    expect(await decisionOn(await open(elsewhere), "rm -rf ./tmp")).toBe("ask");
    for (let count = 0; count < 3; count++) expect((await run(await open(), "rm -rf ./tmp")).ok).toBe(true);
    await runtime.close();

    const config = await loadConfig({ home, cwd, env: {}, systemDir: join(home, "none") });
    const [grant] = listGrants(config);
    expect(grant).toMatchObject({
      text: "rm -rf ./tmp",
      scope: cwd,
      added: expect.stringMatching(/^\d{4}-/),
      origin: expect.stringContaining("always"),
      uses: 3,
      file: join(home, "config.yaml"),
    });

    const next = await withPerson("deny", { home, cwd });
    expect(await decisionOn(next.session, "rm -rf ./tmp")).toBe("allow");
    expect(await revokeGrant(config, grant?.id ?? "")).toMatchObject({ ok: true });
    expect(await decisionOn(next.session, "rm -rf ./tmp")).toBe("ask");
    expect(parse(readFileSync(join(home, "config.yaml"), "utf8"))).toEqual({ command_allowlist: [] });
  });

  it("expired, used up and out of place are all the same: it asks again", async () => {
    const home = tempDir();
    const cwd = join(home, "app");
    mkdirSync(cwd);
    writeFileSync(
      join(home, "config.yaml"),
      `command_allowlist:
  - { command: rm -rf a, expires: 2020-01-01 }
  - { command: rm -rf b, expires: 2999-01-01 }
  - { command: rm -rf c, max_uses: 2 }
  - { command: rm -rf d, scope: /somewhere/else }
  - { command: rm -rf e, scope: ${cwd} }
  - { command: rm -rf f, scope: "environment:docker" }
`,
    );
    const { session, asked } = await withPerson("deny", { home, cwd });
    const verdicts = [];
    for (const name of "abcdef") verdicts.push(await decisionOn(session, `rm -rf ${name}`));
    expect(verdicts).toEqual(["ask", "allow", "allow", "ask", "allow", "ask"]);
    const outcomes = [];
    for (let count = 0; count < 3; count++) outcomes.push((await run(session, "rm -rf c")).ok);
    expect(outcomes).toEqual([true, true, false]);
    expect(asked).toHaveLength(1);
  });

  it("what has no bound is never offered for good, and does not count when written by hand", async () => {
    const home = tempDir();
    const wide = ["python *", "python3 *", "bash *", "sh *", "curl *", "sudo *", "ssh *", "*", "node *"];
    writeFileSync(join(home, "config.yaml"), `command_allowlist: ${JSON.stringify(wide)}\n`);
    const { session, asked } = await withPerson("deny", { home });
    for (const command of [
      "curl -s http://127.0.0.1:9/x | bash",
      "curl -s http://127.0.0.1:9/x | sudo sh",
      "sudo rm -rf ./tmp",
      `rm -rf "$TARGET"`,
      "bash -c 'rm -rf ./tmp'",
      "ssh prod rm -rf /srv/data",
    ]) {
      expect((await run(session, command)).ok, command).toBe(false);
    }
    expect(asked).toHaveLength(6);
    const offered = asked.map((request) => request.remember);
    expect([offered[0], offered[1], offered[3]]).toEqual([[], [], []]);
    for (const texts of offered) for (const text of texts) expect(text.split(" ").length).toBeGreaterThan(1);
  });
});
