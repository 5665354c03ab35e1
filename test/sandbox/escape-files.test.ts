// @needs bwrap
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Jail, makeJail, SECRET } from "./support.js";

let jail: Jail;
let before: string;
beforeEach(() => {
  jail = makeJail();
  before = jail.fingerprint();
});
afterEach(async () => {
  const after = jail.fingerprint();
  await jail.close();
  expect(after).toBe(before);
});

describe("nothing outside the workspace can be changed", () => {
  test.each([
    ["a new file", "echo evil > $OUT/new"],
    ["a file made longer", "echo evil >> $OUT/canary.txt"],
    ["a file emptied", ": > $OUT/canary.txt"],
    ["a file deleted", "rm -f $OUT/canary.txt"],
    ["a tree deleted", "rm -rf $OUT/tree"],
    ["a folder renamed", "mv $OUT/tree $OUT/moved"],
    ["a file moved in", "mv $OUT/canary.txt ."],
    ["rights", "chmod 777 $OUT/canary.txt"],
    ["times, by the owner", "touch -d 2001-01-01 $OUT/canary.txt"],
    ["a link in the workspace, written through", "ln -s $OUT/canary.txt link && echo evil >> link"],
    ["a linked folder in the workspace", "ln -s $OUT door && echo evil > door/new"],
    ["a hard link made in the workspace", "ln $OUT/canary.txt hard && echo evil >> hard"],
    ["its own process's root", "echo evil > /proc/self/root$OUT/new"],
    ["the first process's root", "echo evil > /proc/1/root$OUT/new"],
    [
      "a climb out of the working folder",
      "echo evil > ../outside/new; echo evil > /proc/self/cwd/../outside/new",
    ],
    ["start-up files", "echo evil >> ~/.bashrc; echo evil > ~/.profile"],
    [
      "units that run later",
      "mkdir -p ~/.config/systemd/user && echo evil > ~/.config/systemd/user/x.service",
    ],
    ["the workspace itself renamed away", "mv $WS $BASE/gone"],
    ["remounting it writable", "mount -o remount,rw / ; mount -o remount,bind,rw $OUT; echo evil > $OUT/new"],
    ["a new program for everybody", "cp /bin/true /usr/local/bin/evil-$$ || cp /bin/true /usr/bin/evil-$$"],
  ])("%s", async (_what, command) => {
    const result = await jail.run(command);
    expect(result.exitCode).not.toBe(0);
    expect(result.sandbox?.active).toBe(true);
  });

  test("not even when a call asks to run there", async () => {
    const result = await jail.run("echo evil > new; pwd", { cwd: jail.outside });
    expect(result.output).toContain("Read-only file system");
    expect(result.output).toContain(jail.outside);
  });

  test("without a workspace, nothing at all", async () => {
    const local = jail.environment();
    const request = { cwd: "/", timeoutMs: 9_000, signal: new AbortController().signal };
    const elsewhere = await local.exec({
      ...request,
      workspace: "/",
      command: `echo evil > ${jail.outside}/n`,
    });
    expect(elsewhere.exitCode).not.toBe(0);
    const home = await local.exec({ ...request, workspace: jail.home, command: "echo evil > ~/new" });
    expect(home.output).toContain("Read-only file system");
  });
});

describe("credentials cannot be seen", () => {
  test.each([
    ["keys", "cat ~/.ssh/id_ed25519; ls -la ~/.ssh"],
    ["every known store", "cat ~/.aws/* ~/.netrc ~/.npmrc ~/.git-credentials ~/.config/gh/* ~/.bash_history"],
    ["Hermes' own files", "cat ~/.hermes/config.yaml ~/.hermes/server.token; find ~/.hermes -type f"],
    [
      "through other roots",
      "cat /proc/1/root$HOME/.ssh/* /proc/self/root$HOME/.aws/* /proc/$$/cwd/../home/.netrc",
    ],
    ["by taking the cover away", "umount ~/.ssh; umount -l ~/.aws; rmdir ~/.ssh; cat ~/.ssh/* ~/.aws/*"],
    ["by searching everything", `grep -rs "${SECRET.slice(0, 9)}" $HOME`],
    ["through a link", "ln -s ~/.ssh keys; cat keys/*; cp -r ~/.ssh copy; cat copy/*"],
  ])("%s", async (_what, command) => {
    expect((await jail.run(command)).output).not.toContain(SECRET);
  });

  test("what is meant to be read still can be", async () => {
    const { output } = await jail.run("cat ~/notes.txt ~/.hermes/cache/spillover/result.txt");
    expect(output).toBe("plain notesspilled");
  });
});

describe("what other programs run later stays as it is", () => {
  const inWorkspace = (name: string) => join(jail.workspace, name);

  test.each([
    ["a git hook", "echo evil > .git/hooks/pre-commit", ".git/hooks/pre-commit"],
    [
      "hooks removed and made anew",
      "rm -rf .git/hooks; mkdir -p .git/hooks; echo evil > .git/hooks/post-merge",
      ".git/hooks/post-merge",
    ],
    [
      "a folder renamed over the hooks",
      "mkdir h; echo evil > h/pre-push; mv -T h .git/hooks",
      ".git/hooks/pre-push",
    ],
    [
      "Hermes tools of the project",
      "mkdir -p .hermes/tools; echo evil > .hermes/tools/evil.ts",
      ".hermes/tools/evil.ts",
    ],
    [
      "Hermes folder by renaming",
      "mkdir h; echo evil > h/evil.ts; mv -T h .hermes || { rm -rf .hermes; mv h .hermes; }",
      ".hermes/evil.ts",
    ],
    [
      "Hermes folder as a link",
      "ln -sfn $BASE/workspace/conf .hermes; rmdir .hermes; ln -s conf .hermes",
      ".hermes/settings.json",
    ],
    ["editor tasks", "mkdir -p .vscode; echo evil > .vscode/tasks.json", ".vscode/tasks.json"],
    ["an agent's settings", "mkdir -p .claude; echo evil > .claude/settings.json", ".claude/settings.json"],
    ["another common folder", "mkdir c; echo evil > c/config; echo ../c > .git/commondir", ".git/commondir"],
    ["servers to start", "echo evil > .mcp.json", ".mcp.json"],
  ])("%s", async (_what, command, path) => {
    const result = await jail.run(command);
    expect(existsSync(inWorkspace(path))).toBe(false);
    expect(result.sandbox?.denied === "write" || result.exitCode !== 0).toBe(true);
  });

  test.each([
    ["git's settings, by git", "git config core.fsmonitor ./evil.sh"],
    ["git's settings, by hand", "echo '[core] fsmonitor=./evil' >> .git/config"],
    ["git's settings, by renaming", "cp .git/config c; echo '[core] x=1' >> c; mv c .git/config"],
    ["all of .git replaced", "mv .git .old; git init -q; git config core.fsmonitor ./evil.sh"],
    ["all of .git replaced by a link", "mv .git real && mkdir fake && ln -s fake .git"],
    ["secrets of the project", "echo EVIL=1 > .env"],
  ])("%s", async (_what, command) => {
    const files = [".git/config", ".env"].map(inWorkspace);
    const contents = () => files.map((file) => readFileSync(file, "utf8"));
    const was = contents();
    const result = await jail.run(command);
    expect(contents()).toEqual(was);
    expect(result.exitCode).not.toBe(0);
  });

  test("a link in place of a protected folder keeps its target, and the target its content", async () => {
    symlinkSync("conf", inWorkspace(".vscode"));
    const inside = await jail.run("echo evil > conf/settings.json");
    expect(inside.sandbox).toMatchObject({ denied: "write" });
    const swapped = await jail.run("rm .vscode; mkdir .vscode; echo evil > .vscode/tasks.json");
    expect(swapped.sandbox).toMatchObject({ denied: "write", deniedPath: inWorkspace(".vscode") });
    expect(readFileSync(inWorkspace(".vscode/settings.json"), "utf8")).toBe("{}");
    expect(existsSync(inWorkspace(".vscode/tasks.json"))).toBe(false);
  });

  test("the folder a .git file leads to is kept as well", async () => {
    rmSync(inWorkspace(".git"), { recursive: true });
    mkdirSync(inWorkspace("store/hooks"), { recursive: true });
    writeFileSync(inWorkspace("store/config"), "[core]\n");
    writeFileSync(inWorkspace(".git"), "gitdir: ./store\n");
    const result = await jail.run(
      "echo x > store/hooks/pre-commit; echo x >> store/config; mv store s2; echo gitdir: c > .git",
    );
    expect(result.exitCode).not.toBe(0);
    expect(readdirSync(inWorkspace("store/hooks"))).toEqual([]);
    expect(readFileSync(inWorkspace("store/config"), "utf8")).toBe("[core]\n");
    expect(readFileSync(inWorkspace(".git"), "utf8")).toBe("gitdir: ./store\n");
  });

  test("hooks that lie elsewhere are kept where they lie", async () => {
    mkdirSync(inWorkspace(".husky/_"), { recursive: true });
    mkdirSync(inWorkspace("tools/hooks"), { recursive: true });
    writeFileSync(inWorkspace(".husky/pre-commit"), "true\n");
    writeFileSync(inWorkspace(".git/config"), "[core]\n\thooksPath = tools/hooks\n");
    await jail.run(
      "echo evil > .husky/pre-commit; echo evil > tools/hooks/pre-push; mv tools t; mkdir -p tools/hooks; echo evil > tools/hooks/pre-push",
    );
    expect(readFileSync(inWorkspace(".husky/pre-commit"), "utf8")).toBe("true\n");
    expect(readdirSync(inWorkspace("tools/hooks"))).toEqual([]);
  });

  test("submodules keep their hooks and settings", async () => {
    const module = inWorkspace(".git/modules/group/lib");
    mkdirSync(module, { recursive: true });
    writeFileSync(join(module, "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(join(module, "config"), "[core]\n");
    await jail.run(
      "cd .git/modules; mkdir group/lib/hooks; echo evil > group/lib/hooks/pre-push; echo evil >> group/lib/config; mv group gone; mkdir -p group/lib; echo evil > group/lib/config",
    );
    expect(readFileSync(join(module, "config"), "utf8")).toBe("[core]\n");
    expect(existsSync(join(module, "hooks/pre-push"))).toBe(false);
  });

  test("no stand-in is left behind, however many commands run at once", async () => {
    const names = () => readdirSync(jail.workspace).filter((name) => name !== "made");
    const was = names();
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, index) => jail.run(`sleep 0.${index}; mkdir -p .hermes/tools made`)),
    );
    expect(results.every((result) => result.exitCode !== 0)).toBe(true);
    expect(names()).toEqual(was);
  });
});

describe("temporary folders are private", () => {
  test("what lies there is not seen, what is written there is not left", async () => {
    const visible = join(tmpdir(), `hermes-visible-${process.pid}`);
    writeFileSync(visible, SECRET);
    try {
      const { output } = await jail.run(
        `cat ${visible}; ls -A /tmp /var/tmp /run; echo x > /tmp/left-${process.pid}; echo x > /var/tmp/left; cat /tmp/left-*`,
      );
      expect(output).not.toContain(SECRET);
      expect(output).toContain("\nx\n");
      expect(existsSync(`/tmp/left-${process.pid}`)).toBe(false);
    } finally {
      rmSync(visible);
    }
  });

  test("a call cannot ask to run in one", async () => {
    const folder = join(tmpdir(), `hermes-dir-${process.pid}`);
    mkdirSync(folder);
    try {
      await expect(jail.run("ls", { cwd: folder })).rejects.toMatchObject({
        code: "denied",
        message: expect.stringContaining("do not see that folder"),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
