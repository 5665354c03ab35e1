import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { judgePlace } from "../../src/places/judge-place.js";
import { reads, rulesBench, writes } from "./support.js";

const verdict = (path: string, operation: "read" | "write") =>
  judgePlace({ path, operation, hermesHome: "/home/ada/.hermes", home: "/home/ada" }).verdict;

describe("names that a person must see before they are written, whether or not they exist", () => {
  it.each([
    "/home/ada/.hermes/config.yaml",
    "/home/ada/.hermes/.env",
    "/home/ada/.hermes/hermes_permissions.yaml",
    "/home/ada/.hermes/state.db",
    "/home/ada/.hermes/sessions.db",
    "/home/ada/.hermes/sessions-index.db-wal",
    "/home/ada/.hermes/tools/x.ts",
    "/home/ada/.hermes/plugins/x/index.js",
    "/home/ada/.hermes/hooks/pre.sh",
    "/home/ada/.hermes/skills/x/SKILL.md",
    "/srv/project/.hermes/tools/x.ts",
    "/srv/project/.Hermes/config.yaml",
    "/srv/project/.git/hooks/pre-commit",
    "/srv/project/.GIT/HOOKS/pre-commit",
    "/srv/project/.g\u200dit/hooks/pre-commit",
    "/srv/project/.git/config",
    "/srv/project/.git/config.worktree",
    "/srv/project/.git",
    "/srv/project/deep/er/.git/modules/sub/hooks/post-checkout",
    "/srv/project/.git/worktrees/w/config.worktree",
    "/srv/bare.git/hooks/post-receive",
    "/srv/project/.husky/pre-commit",
    "/srv/project/.github/workflows/ci.yml",
    "/srv/project/.gitlab-ci.yml",
    "/srv/project/.vscode/tasks.json",
    "/srv/project/.vscode/settings.json",
    "/srv/project/.envrc",
    "/srv/project/.env",
    "/srv/project/.env.production",
    "/srv/project/.mcp.json",
    "/srv/project/.claude/settings.json",
    "/home/ada/.bashrc",
    "/home/ada/.BASHRC",
    "/home/ada/.zshenv",
    "/home/ada/.config/fish/conf.d/x.fish",
    "/home/ada/.ssh/authorized_keys",
    "/home/bob/.ssh/authorized_keys",
    "/root/.profile",
    "/home/ada/.aws/credentials",
    "/home/ada/.npmrc",
    "/home/ada/.pypirc",
    "/home/ada/.gitconfig",
    "/home/ada/.config/systemd/user/x.service",
    "/home/ada/.config/autostart/x.desktop",
    "/Users/ada/Library/LaunchAgents/x.plist",
    "/Library/LaunchDaemons/x.plist",
    "/var/spool/cron/crontabs/ada",
    "/etc/cron.d/x",
    "/etc/sudoers.d/x",
    "/usr/local/bin/ls",
    "/dev/sda",
  ])("%s", (path) => {
    expect(verdict(path, "write")).not.toBe("allow");
  });

  it.each([
    "/srv/project/src/a.ts",
    "/srv/project/.gitignore",
    "/srv/project/.github/README.md",
    "/srv/project/.npmrc",
    "/srv/project/config",
    "/srv/project/src/hooks/useThing.ts",
    "/srv/project/.vscode/notes.md",
    "/srv/project/.env.example",
    "/srv/project/environment",
    "/home/ada/notes.txt",
    "/home/ada/.bashrc.d-notes",
    "/home/ada/.config/other/x",
    "/etcetera/x",
    "/library-of-books/x",
    "/dev/null",
  ])("%s is an ordinary file", (path) => {
    expect(verdict(path, "write")).toBe("allow");
  });

  it("a repository's folder counts by what it is, not by its name", async () => {
    const { ask, cwd } = await rulesBench("");
    mkdirSync(join(cwd, "meta/objects"), { recursive: true });
    writeFileSync(join(cwd, "meta/HEAD"), "ref: refs/heads/main\n");
    mkdirSync(join(cwd, "plain"));
    const reason = (path: string) => ask({ effects: [writes(join(cwd, path))] }).reason;
    expect(reason("meta/hooks/post-merge")).toContain("git hooks");
    expect(reason("meta/config")).toContain("git hooks");
    expect(reason("plain/hooks/post-merge")).toBeUndefined();
  });
});

describe("names whose reading shows secrets", () => {
  it.each([
    "/home/ada/.hermes/.env",
    "/home/ada/.hermes/server.token",
    "/home/ada/.ssh/id_ed25519",
    "/home/ada/.AWS/credentials",
    "/home/ada/.config/gh/hosts.yml",
    "/home/ada/.local/share/keyrings/login.keyring",
    "/root/.netrc",
    "/srv/project/.env",
    "/srv/project/deploy/id_rsa",
    "/etc/shadow",
    "/proc/1/environ",
  ])("%s", (path) => {
    expect(verdict(path, "read")).not.toBe("allow");
  });

  it.each(["/home/ada/.bashrc", "/etc/hosts", "/srv/project/.env.example", "/home/ada/.hermes/config.yaml"])(
    "%s may be read",
    (path) => {
      expect(verdict(path, "read")).toBe("allow");
    },
  );
});

describe("the policy asks a person about them", () => {
  it("whatever the rules open, through links, and before the file exists", async () => {
    const { ask, cwd } = await rulesBench(
      "profiles: {p: {allow: ['*'], restrictions: {'file:*': {allowed_paths: ['**']}}}}",
    );
    mkdirSync(join(cwd, ".git"));
    symlinkSync(".git/hooks", join(cwd, "docs"));
    symlinkSync(join(cwd, "target"), join(cwd, ".envrc"));
    for (const path of [".git/hooks/pre-commit", "docs/pre-commit", ".envrc", ".hermes/config.yaml"]) {
      expect(ask({ profile: "p", effects: [writes(join(cwd, path))] }), path).toMatchObject({
        verdict: "ask",
        rule: "file.write-protected",
        personOnly: true,
      });
    }
    expect(ask({ profile: "p", effects: [reads(join(cwd, "id_rsa"))] })).toMatchObject({
      verdict: "ask",
      rule: "file.read-secret",
      personOnly: true,
    });
    expect(ask({ profile: "p", effects: [writes(join(cwd, "src/a"))] }).verdict).toBe("allow");
  });

  it("writing outside the working folder is asked about too", async () => {
    const { ask, cwd } = await rulesBench("");
    expect(ask({ effects: [writes(join(cwd, "a"))] }).verdict).toBe("allow");
    expect(ask({ effects: [writes("/srv/elsewhere/a")] })).toMatchObject({
      verdict: "ask",
      rule: "file.write-outside",
      grantKeys: ["file.write-outside:/srv/elsewhere"],
    });
  });
});
