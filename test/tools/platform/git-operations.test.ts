// @needs git
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import type { CallResult } from "../../../src/tool/call.js";
import tool from "../../../src/tools/platform/git-operations.js";
import { needs } from "../../support/needs.js";
import { onTestEnd, tempDir, testRuntime } from "../../support/runtime.js";
import { startGitServer } from "./git-server.js";

interface Repository {
  readonly cwd: string;
  readonly asked: string[];
  /** Progress of all calls. */
  readonly told: string[];
  git(...words: string[]): string;
  write(path: string, text: string): void;
  call(args: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<CallResult>;
  /** The structured result of a call that must succeed. */
  ok(args: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>>;
}

/** A session in a folder that is a repository, with somebody to ask. */
async function repository(
  options: {
    readonly answer?: "once" | "deny";
    readonly hosts?: readonly string[];
    readonly profile?: string;
    readonly sandbox?: "strict";
  } = {},
): Promise<Repository> {
  const { runtime, cwd } = await testRuntime([tool], {
    flags: {
      "security.allowed_hosts": [...(options.hosts ?? [])],
      ...(options.sandbox !== undefined && { "terminal.sandbox": options.sandbox }),
    },
  });
  const asked: string[] = [];
  const told: string[] = [];
  const session = await runtime.openSession({
    ...(options.profile !== undefined && { profile: options.profile }),
    approver: {
      ask: async ({ reason }: { readonly reason?: string }) => {
        asked.push(reason ?? "");
        return options.answer ?? "once";
      },
    },
  });
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", cwd, ...words], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" },
    });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "Ada");
  git("config", "user.email", "ada@example.org");
  const call = (args: Readonly<Record<string, unknown>>, signal?: AbortSignal) =>
    session.call(
      { name: "git_operations", arguments: { ...args } },
      { signal, onProgress: ({ message }) => void told.push(message ?? "") },
    );
  return {
    cwd,
    asked,
    told,
    git,
    call,
    write(path, text) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), text);
    },
    async ok(args) {
      const result = await call(args);
      expect(result.error).toBeUndefined();
      return result.structured as Record<string, unknown>;
    },
  };
}

/** With one commit of `a.txt`. */
async function started(options: Parameters<typeof repository>[0] = {}): Promise<Repository> {
  const repo = await repository(options);
  repo.write("a.txt", "one\ntwo\n");
  await repo.ok({ action: "commit", paths: ["a.txt"], message: "First\n\nwith a body" });
  return repo;
}

describe("looking", () => {
  it("status tells branch, states and names with strange characters", async () => {
    const repo = await started();
    repo.write("a.txt", "one\nTWO\n");
    repo.write("sub/new file ü.txt", "x\n");
    repo.write("staged.txt", "x\n");
    repo.git("add", "staged.txt");
    const out = await repo.ok({ action: "status" });
    expect(out).toMatchObject({ branch: "main", upstream: null, ahead: 0, behind: 0, clean: false });
    expect(out.files).toEqual(
      expect.arrayContaining([
        { path: "a.txt", state: "modified", staged: false, unstaged: true },
        { path: "staged.txt", state: "added", staged: true, unstaged: false },
        { path: "sub/", state: "untracked", staged: false, unstaged: true },
      ]),
    );
  });

  it("a renamed file keeps both names", async () => {
    const repo = await started();
    repo.git("mv", "a.txt", "b.txt");
    expect((await repo.ok({ action: "status" })).files).toEqual([
      { path: "b.txt", old_path: "a.txt", state: "renamed", staged: true, unstaged: false },
    ]);
  });

  it("log has whole messages, newest first, and says when there is more", async () => {
    const repo = await started();
    repo.write("b.txt", "x\n");
    await repo.ok({ action: "commit", paths: ["b.txt"], message: "Second" });
    const out = await repo.ok({ action: "log", limit: 1 });
    expect(out).toMatchObject({ truncated: true, commits: [{ author: "Ada", message: "Second" }] });
    const all = await repo.ok({ action: "log", paths: ["a.txt"] });
    expect(all).toMatchObject({
      truncated: false,
      commits: [{ message: "First\n\nwith a body", email: "ada@example.org", refs: [] }],
    });
    expect(repo.git("rev-parse", "HEAD").trim()).toBe((out.commits as { hash: string }[])[0]?.hash);
  });

  it("diff, show and blame", async () => {
    const repo = await started();
    repo.write("a.txt", "one\n2\nthree\n");
    const diff = await repo.ok({ action: "diff" });
    expect(diff).toMatchObject({ added: 2, removed: 1, files: [{ path: "a.txt", added: 2, removed: 1 }] });
    expect(diff.diff).toContain("-two\n+2\n+three\n");
    expect(await repo.ok({ action: "diff", staged: true })).toMatchObject({ files: [], diff: "" });
    const shown = await repo.ok({ action: "show" });
    expect(shown).toMatchObject({
      commit: { message: "First\n\nwith a body" },
      files: [{ path: "a.txt", added: 2 }],
    });
    expect(shown.diff).toContain("+one\n+two\n");
    expect(await repo.ok({ action: "show", ref: "HEAD:a.txt" })).toMatchObject({ content: "one\ntwo\n" });
    await repo.ok({ action: "commit", all: true, message: "Second" });
    const { lines } = await repo.ok({ action: "blame", paths: ["a.txt"], lines: "1,2" });
    expect(lines).toMatchObject([
      { line: 1, author: "Ada", text: "one" },
      { line: 2, author: "Ada", text: "2" },
    ]);
    const [first, second] = lines as { hash: string }[];
    expect(first?.hash).not.toBe(second?.hash);
  });

  it("runs nothing that the repository names", async () => {
    const repo = await started();
    const trap = join(repo.cwd, "trap.sh");
    writeFileSync(trap, `#!/bin/sh\ntouch ${repo.cwd}/sprung\ncat "$1" 2>/dev/null\n`);
    chmodSync(trap, 0o755);
    for (const [name, value] of [
      ["core.fsmonitor", trap],
      ["diff.external", trap],
      ["diff.evil.textconv", trap],
      ["diff.evil.command", trap],
      ["filter.evil.clean", trap],
      ["core.pager", trap],
      ["gpg.program", trap],
      ["log.showSignature", "true"],
    ] as const)
      repo.git("config", name, value);
    repo.write(".gitattributes", "*.txt diff=evil filter=evil\n");
    repo.write("a.txt", "changed\n");
    for (const action of ["status", "log", "diff", "show"]) await repo.ok({ action });
    await repo.ok({ action: "blame", paths: ["a.txt"] });
    expect(existsSync(join(repo.cwd, "sprung"))).toBe(false);
  });

  it("what may not be read as a file is not shown as a difference", async () => {
    const repo = await started();
    repo.write(".env", "TOKEN=first-secret\n");
    repo.git("add", "-f", ".env");
    repo.git("commit", "-qm", "oops");
    repo.write(".env", "TOKEN=second-secret\n");
    repo.write("a.txt", "changed\n");
    const diff = await repo.ok({ action: "diff" });
    expect(diff.diff).toContain("+changed");
    expect(diff.note).toMatch(/\.env/);
    expect(JSON.stringify([diff, await repo.ok({ action: "show" })])).not.toMatch(
      /first-secret|second-secret/,
    );
    expect((await repo.call({ action: "show", ref: "HEAD:.env" })).error?.code).toBe("denied");
    expect((await repo.call({ action: "blame", paths: [".env"] })).error?.code).toBe("denied");
  });

  it("reading needs git:read alone", async () => {
    const repo = await repository({ profile: "production_deploy" });
    repo.write("a.txt", "x\n");
    expect((await repo.call({ action: "status" })).error).toBeUndefined();
    expect((await repo.call({ action: "add", all: true })).error?.code).toBe("denied");
  });

  it("a folder that is no repository, and a revision that is none, are told as such", async () => {
    const { runtime } = await testRuntime([tool]);
    const session = await runtime.openSession();
    const none = await session.call({ name: "git_operations", arguments: { action: "status" } });
    expect(none.error).toMatchObject({
      code: "not_found",
      message: expect.stringMatching(/not a git repository/),
    });
    const repo = await started();
    expect((await repo.call({ action: "log", ref: "nowhere" })).error?.code).toBe("not_found");
  });
});

describe("changing", () => {
  it("add and commit; the message is taken as it is", async () => {
    const repo = await repository();
    repo.write("b.txt", "x\n");
    expect(await repo.ok({ action: "add", all: true })).toMatchObject({
      staged: [{ path: "b.txt", state: "added" }],
    });
    const message = '# not a comment\n\n$(touch x) `id` "quoted" --amend';
    const out = await repo.ok({ action: "commit", message });
    expect(out).toMatchObject({ branch: "main", message, added: 1, files: [{ path: "b.txt" }] });
    expect(repo.git("log", "-1", "--format=%B").trim()).toBe(message);
    expect(repo.asked).toEqual([]);
    const none = await repo.call({ action: "commit", message: "again" });
    expect(none.error?.hint).toMatch(/Nothing is staged/);
  });

  it("a hook runs, and its refusal is told in its own words", async () => {
    const repo = await repository();
    const hook = join(repo.cwd, ".git/hooks/pre-commit");
    mkdirSync(dirname(hook), { recursive: true });
    writeFileSync(hook, "#!/bin/sh\necho 'run the formatter first' >&2\nexit 1\n");
    chmodSync(hook, 0o755);
    repo.write("b.txt", "x\n");
    const { error } = await repo.call({ action: "commit", paths: ["b.txt"], message: "no" });
    expect(error?.message).toContain("run the formatter first");
    expect(error?.hint).toMatch(/hook/);
  });

  it("branches, tags and stashes", async () => {
    const repo = await started();
    expect(await repo.ok({ action: "checkout", branch: "topic", create: true })).toMatchObject({
      branch: "topic",
    });
    expect(await repo.ok({ action: "branch" })).toMatchObject({
      current: "topic",
      branches: [{ name: "main" }, { name: "topic", current: true, subject: "First" }],
    });
    expect(await repo.ok({ action: "tag", tag: "v1", message: "the first" })).toMatchObject({
      tags: [{ name: "v1", annotated: true, subject: "the first" }],
    });
    repo.write("a.txt", "changed\n");
    expect(await repo.ok({ action: "stash", message: "aside" })).toMatchObject({
      stashes: [{ ref: "stash@{0}", message: expect.stringContaining("aside") }],
    });
    expect(readFileSync(join(repo.cwd, "a.txt"), "utf8")).toBe("one\ntwo\n");
    expect(await repo.ok({ action: "stash", operation: "pop" })).toMatchObject({
      stashes: [],
      conflicts: [],
    });
    expect(readFileSync(join(repo.cwd, "a.txt"), "utf8")).toBe("changed\n");
    expect(repo.asked).toEqual([]);
  });

  it("a merge that stops at conflicts says where, and can be given up", async () => {
    const repo = await started();
    await repo.ok({ action: "checkout", branch: "topic", create: true });
    repo.write("a.txt", "theirs\n");
    await repo.ok({ action: "commit", all: true, message: "theirs" });
    await repo.ok({ action: "checkout", branch: "main" });
    repo.write("a.txt", "ours\n");
    await repo.ok({ action: "commit", all: true, message: "ours" });
    expect(await repo.ok({ action: "merge", branch: "topic" })).toMatchObject({
      merged: false,
      conflicts: ["a.txt"],
    });
    expect(await repo.ok({ action: "status" })).toMatchObject({
      files: [{ path: "a.txt", state: "conflicted" }],
    });
    expect(await repo.ok({ action: "merge", operation: "abort" })).toMatchObject({ aborted: true });
    expect(await repo.ok({ action: "status" })).toMatchObject({ clean: true });
  });

  it.each([
    { action: "checkout", paths: ["a.txt"] },
    { action: "checkout", branch: "main", force: true },
    { action: "branch", operation: "delete", branch: "topic", force: true },
    { action: "stash", operation: "drop" },
    { action: "tag", operation: "delete", tag: "v1" },
    { action: "remote", operation: "remove", remote: "origin" },
    { action: "push", force: true },
    { action: "push", operation: "delete", branch: "topic" },
  ])("what throws work away is asked about, as in a terminal: %o", async (args) => {
    const repo = await started({ answer: "deny" });
    repo.write("a.txt", "changed\n");
    const { error } = await repo.call(args);
    expect(error?.code).toBe("denied");
    expect(repo.asked).toHaveLength(1);
    expect(readFileSync(join(repo.cwd, "a.txt"), "utf8")).toBe("changed\n");
  });

  it.each([
    { action: "log", ref: "--output=stolen" },
    { action: "diff", ref: "--no-index" },
    { action: "checkout", branch: "--orphan" },
    { action: "merge", branch: "-Xours" },
    { action: "fetch", remote: "--upload-pack=touch sprung" },
    { action: "push", branch: "+main" },
    { action: "push", branch: "main:other" },
    { action: "clone", url: "--upload-pack=touch sprung" },
    { action: "clone", url: "ext::sh -c touch% sprung" },
    { action: "remote", remote: "evil", url: "ext::sh -c touch% sprung" },
    { action: "clone", url: "ssh://-oProxyCommand=touch%20sprung/x" },
    { action: "clone", url: "https://example.org/x", path: "--bare" },
  ])("what git would take for an option or a program is refused: %o", async (args) => {
    const repo = await started();
    const { error } = await repo.call(args);
    expect(error?.code).toBe("invalid_arguments");
    expect(existsSync(join(repo.cwd, "sprung"))).toBe(false);
    expect(existsSync(join(repo.cwd, "stolen"))).toBe(false);
  });
});

describe("another repository of this machine", () => {
  it("push, clone, fetch and pull over file://", async () => {
    const repo = await started();
    execFileSync("git", ["init", "-q", "--bare", "-b", "main", join(repo.cwd, "remote.git")]);
    const url = `file://${repo.cwd}/remote.git`;
    expect(await repo.ok({ action: "remote", remote: "origin", url })).toMatchObject({
      remotes: [{ name: "origin", fetch: url }],
    });
    expect(await repo.ok({ action: "push" })).toMatchObject({
      remote: "origin",
      refs: [{ from: "refs/heads/main", to: "refs/heads/main", state: "new" }],
    });
    expect(await repo.ok({ action: "status" })).toMatchObject({ upstream: "origin/main", ahead: 0 });
    expect(await repo.ok({ action: "clone", url, path: "copy" })).toMatchObject({ branch: "main" });
    expect(readFileSync(join(repo.cwd, "copy/a.txt"), "utf8")).toBe("one\ntwo\n");
    repo.write("a.txt", "three\n");
    await repo.ok({ action: "commit", all: true, message: "Second" });
    expect(await repo.ok({ action: "status" })).toMatchObject({ ahead: 1, behind: 0 });
    await repo.ok({ action: "push" });
    expect(await repo.ok({ action: "fetch", repo: "copy" })).toMatchObject({
      updated: [{ ref: "refs/remotes/origin/main" }],
    });
    expect(await repo.ok({ action: "status", repo: "copy" })).toMatchObject({ behind: 1 });
    expect(await repo.ok({ action: "pull", repo: "copy" })).toMatchObject({ updated: true, conflicts: [] });
    expect(readFileSync(join(repo.cwd, "copy/a.txt"), "utf8")).toBe("three\n");
  });

  it("a strict boundary around commands is opened for it, and for the settings that a command names", async (context) => {
    needs(context, "bwrap");
    const repo = await started({ sandbox: "strict" });
    const remote = join(tempDir(), "remote.git");
    execFileSync("git", ["init", "-q", "--bare", "-b", "main", remote]);
    await repo.ok({ action: "remote", remote: "origin", url: remote });
    await repo.ok({ action: "push" });
    expect(await repo.ok({ action: "status" })).toMatchObject({ upstream: "origin/main", ahead: 0 });
    expect(await repo.ok({ action: "clone", url: remote, path: "copy" })).toMatchObject({ branch: "main" });
    expect(repo.asked).toEqual([]);
  });

  it("outside the workspace it is refused", async () => {
    const repo = await started();
    for (const url of ["file:///srv/other.git", "/srv/other.git"]) {
      const { error } = await repo.call({ action: "clone", url, path: "copy" });
      expect([url, error?.code]).toEqual([url, "denied"]);
      expect(error?.message).toMatch(/outside the workspace/);
    }
  });

  it("a remote whose settings name a program is refused, and its programs are not run", async () => {
    const repo = await started();
    repo.git("config", "remote.origin.url", `ext::touch ${repo.cwd}/sprung`);
    expect((await repo.call({ action: "fetch" })).error?.code).toBe("denied");
    execFileSync("git", ["init", "-q", "--bare", join(repo.cwd, "remote.git")]);
    repo.git("config", "remote.origin.url", join(repo.cwd, "remote.git"));
    repo.git("config", "remote.origin.uploadpack", `touch ${repo.cwd}/sprung; git-upload-pack`);
    repo.git("config", "remote.origin.receivepack", `touch ${repo.cwd}/sprung; git-receive-pack`);
    await repo.ok({ action: "push" });
    await repo.ok({ action: "fetch", branch: "main" });
    expect(existsSync(join(repo.cwd, "sprung"))).toBe(false);
  });
});

describe("git over HTTP", () => {
  async function served(hosts: readonly string[]) {
    const repo = await started({ hosts });
    const root = join(repo.cwd, "served");
    execFileSync("git", ["clone", "-q", "--bare", repo.cwd, join(root, "project.git")], { stdio: "ignore" });
    const server = await startGitServer(root);
    return { repo, server, url: `${server.base}/project.git` };
  }

  it("clone, push and fetch", async () => {
    const { repo, url } = await served(["127.0.0.1"]);
    const cloned = await repo.call({ action: "clone", url, path: "copy" });
    expect(cloned.error).toBeUndefined();
    expect(cloned.structured).toMatchObject({ branch: "main", url });
    expect(repo.told).toContain(`cloning ${url}`);
    expect(cloned.untrusted_from).toEqual(expect.arrayContaining([url]));
    await repo.ok({ action: "remote", remote: "origin", url });
    repo.write("b.txt", "x\n");
    await repo.ok({ action: "commit", paths: ["b.txt"], message: "Over HTTP" });
    expect(await repo.ok({ action: "push" })).toMatchObject({ refs: [{ state: "updated" }] });
    expect(repo.told).toContain(`pushing to ${url}`);
    const pulled = await repo.ok({ action: "pull", repo: "copy" });
    expect(pulled).toMatchObject({ updated: true });
    expect(String(pulled.output)).not.toContain("% (");
    expect(await repo.ok({ action: "log", repo: "copy", limit: 1 })).toMatchObject({
      commits: [{ message: "Over HTTP" }],
    });
  });

  it("a private address is refused, whether a call names it or a repository", async () => {
    const { repo, server, url } = await served([]);
    expect((await repo.call({ action: "clone", url, path: "copy" })).error?.code).toBe("denied");
    repo.git("remote", "add", "origin", url);
    expect((await repo.call({ action: "fetch" })).error?.code).toBe("denied");
    expect(server.seen).toEqual([]);
  });

  it("a redirect is not followed", async () => {
    const { repo, server } = await served(["127.0.0.1"]);
    const { error, untrusted_from } = await repo.call({
      action: "clone",
      url: `${server.base}/moved/project.git`,
      path: "copy",
    });
    expect(error?.hint).toMatch(/redirect/);
    expect(untrusted_from).toEqual([`${server.base}/moved/project.git`]);
    expect(server.seen.filter((line) => !line.includes("/moved/"))).toEqual([]);
  });

  it("a cancelled clone ends, also at the other side, and leaves no half repository", async () => {
    const { repo } = await served(["127.0.0.1"]);
    let open = 0;
    const silent = createServer((request) => {
      open += 1;
      request.socket.on("close", () => {
        open -= 1;
      });
    });
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    onTestEnd(() => {
      silent.closeAllConnections();
      silent.close();
    });
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/slow.git`;
    const stop = new AbortController();
    const running = repo.call({ action: "clone", url, path: "copy" }, stop.signal);
    await expect.poll(() => open, { timeout: 10_000 }).toBe(1);
    stop.abort();
    expect((await running).error?.code).toBe("cancelled");
    await expect.poll(() => open).toBe(0);
    await expect.poll(() => existsSync(join(repo.cwd, "copy"))).toBe(false);
  });

  it("what is not there is told with what to do", async () => {
    const { repo, server } = await served(["127.0.0.1"]);
    const { error } = await repo.call({ action: "clone", url: `${server.base}/none.git`, path: "copy" });
    expect(error).toMatchObject({ code: "not_found", hint: expect.stringContaining("Check the address") });
    expect(error?.message).not.toContain("Cloning into");
  });

  it("passwords in addresses are not shown", async () => {
    const { repo, server } = await served(["127.0.0.1"]);
    const url = `${server.base.replace("//", "//me:hidden-word@")}/none.git`;
    const result = await repo.call({ action: "clone", url, path: "copy" });
    expect(result.error?.code).toBe("not_found");
    expect(JSON.stringify([result.error, result.content])).not.toContain("hidden-word");
  });
});
