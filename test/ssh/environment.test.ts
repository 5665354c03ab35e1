// @needs sshd ssh
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Environment, ExecRequest } from "../../src/env/environment.js";
import { createSshEnvironment, type SshOptions } from "../../src/env/ssh/ssh.js";
import { onTestEnd, tempDir } from "../support/runtime.js";
import type { SshServer } from "../support/ssh-server.js";
import { eventually, optionsFor, processesWith, serverForTest } from "./support.js";

describe("an ssh environment", () => {
  it("starts in the home folder there and tells where it is", async () => {
    const server = await serverForTest();
    const environment = await environmentForTest(server);
    const description = await environment.describe();
    expect(description).toMatchObject({
      name: "ssh",
      kind: "ssh",
      ok: true,
      cwd: server.home,
      home: server.home,
      facts: {
        host: `${server.user}@127.0.0.1:${server.port}`,
        user: server.user,
        "host keys": "accept-new",
      },
    });
    expect((await exec(environment, "pwd", { cwd: server.home })).output).toBe(`${server.home}\n`);
  });

  it("never shows variables in a process list, neither those of a command nor those sent along with all", async () => {
    const server = await serverForTest();
    const environment = await environmentForTest(server, { passthrough: { SENT_ALONG: "sent-secret-1" } });
    await exec(environment, "mkfifo ~/fifo");
    const running = exec(environment, 'echo "$SENT_ALONG $MINE"; read line <~/fifo', {
      env: { MINE: "own-secret-2" },
    });
    await exec(environment, "sleep 0.3");
    for (const secret of ["sent-secret-1", "own-secret-2"]) {
      expect(processesWith(secret)).toEqual([]);
    }
    await exec(environment, "echo >~/fifo");
    expect((await running).output).toBe("sent-secret-1 own-secret-2\n");
  });

  it("a login shell's profile gives commands their variables; what it prints stays out", async () => {
    const server = await serverForTest();
    writeFileSync(join(server.home, ".profile"), 'export FROM_PROFILE=yes\necho "welcome to the machine"\n');
    const environment = await environmentForTest(server);
    expect((await exec(environment, 'echo "$FROM_PROFILE"')).output).toBe("yes\n");
  });

  it("closing ends what runs there and leaves no process, socket or file", async () => {
    const server = await serverForTest();
    const options = optionsFor(server);
    const environment = await createSshEnvironment(options);
    const sleeper = "4321.125";
    await environment.spawn({
      command: `sleep ${sleeper} & setsid sleep ${sleeper} & wait`,
      cwd: server.home,
      onOutput() {},
    });
    expect(await eventually(() => processesWith(sleeper).length > 1)).toBe(true);
    await environment.close();
    expect(processesWith(sleeper)).toEqual([]);
    expect(processesWith(options.controlDir)).toEqual([]);
    expect(readdirSync(options.controlDir)).toEqual([]);
    expect(readdirSync(server.home)).toEqual([]);
    await expect(exec(environment, "true")).rejects.toMatchObject({ code: "unavailable" });
  });

  it("that cannot be reached is an error at once, with what to do", async () => {
    const server = await serverForTest();
    await server.changeHostKey();
    const options = optionsFor(server);
    await expect(createSshEnvironment(options)).rejects.toMatchObject({
      code: "unavailable",
      hint: expect.any(String),
    });
    expect(processesWith(options.controlDir)).toEqual([]);
    expect(readdirSync(options.controlDir)).toEqual([]);
  });
});

const ODD_NAMES = [
  "plain",
  "two words",
  "quo\"te's",
  "gl*b[x]?",
  "back\\slash",
  "-dash",
  "ünï😀",
  "$(id)",
  "line\nbreak",
];

describe("copying files over ssh", () => {
  it.each([
    ["with sftp", { copyWith: "sftp" }, {}],
    ["with tar", { copyWith: "tar" }, {}],
    ["where the server has no sftp", { copyWith: "sftp" }, { sftp: false }],
  ] as const)("keeps odd names, modes and bytes, both ways, %s", async (_, copying, offered) => {
    const server = await serverForTest(offered);
    const environment = await environmentForTest(server, copying);
    const here = tempDir();
    const source = join(here, "source folder");
    mkdirSync(join(source, "deep", "empty"), { recursive: true });
    for (const name of ODD_NAMES)
      writeFileSync(join(source, "deep", name), Buffer.from(`${name}\0\xff`, "latin1"));
    chmodSync(join(source, "deep", "plain"), 0o750);
    const there = join(server.home, "a 'new' \"folder\" *");

    const pushed = await environment.push({ from: source, to: there });
    expect(pushed.files).toBe(ODD_NAMES.length);
    expect(readdirSync(join(there, "deep")).sort()).toEqual(["empty", ...ODD_NAMES].sort());
    expect(statSync(join(there, "deep", "plain")).mode & 0o777).toBe(0o750);

    const usedSftp = server.log().includes("subsystem 'sftp'");
    expect(usedSftp).toBe(copying.copyWith === "sftp" && !("sftp" in offered));

    const back = join(here, "back [again]");
    const fetched = await environment.fetch({ from: there, to: back });
    expect(fetched).toEqual(pushed);
    for (const name of ODD_NAMES) {
      expect(readFileSync(join(back, "deep", name))).toEqual(readFileSync(join(source, "deep", name)));
    }
    expect(statSync(join(back, "deep", "plain")).mode & 0o777).toBe(0o750);
    expect(readdirSync(join(back, "deep", "empty"))).toEqual([]);
    expect(readdirSync(here).sort()).toEqual(["back [again]", "source folder"]);
  });

  it("single files with odd names arrive as they are", async () => {
    const server = await serverForTest();
    const environment = await environmentForTest(server, { copyWith: "sftp" });
    const here = tempDir();
    for (const name of ODD_NAMES) {
      const [first, there, back] = [
        join(here, name),
        join(server.home, `${name}.x`),
        join(here, `${name}.y`),
      ];
      writeFileSync(first, `content of ${name}`);
      await environment.push({ from: first, to: there });
      expect(readFileSync(there, "utf8")).toBe(`content of ${name}`);
      await environment.fetch({ from: there, to: back });
      expect(readFileSync(back, "utf8")).toBe(`content of ${name}`);
    }
  });

  it("a large file goes over sftp by itself, and its mode with it", async () => {
    const server = await serverForTest();
    const environment = await environmentForTest(server);
    const here = tempDir();
    writeFileSync(join(here, "large"), Buffer.alloc(5_000_000, "0123456789"), { mode: 0o640 });
    const there = join(server.home, "large");
    expect(await environment.push({ from: join(here, "large"), to: there })).toEqual({
      files: 1,
      bytes: 5_000_000,
    });
    expect(server.log()).toContain("subsystem 'sftp'");
    expect(statSync(there).mode & 0o777).toBe(0o640);
    await environment.fetch({ from: there, to: join(here, "back") });
    expect(readFileSync(join(here, "back")).equals(readFileSync(join(here, "large")))).toBe(true);
  });

  it("a copy that is called off ends, and leaves nothing at its target", async () => {
    const server = await serverForTest();
    const environment = await environmentForTest(server, { copyWith: "sftp" });
    const here = tempDir();
    writeFileSync(join(server.home, "large"), Buffer.alloc(100_000_000));
    const stop = new AbortController();
    const fetching = environment.fetch({
      from: join(server.home, "large"),
      to: join(here, "x"),
      signal: stop.signal,
    });
    await eventually(() => processesWith("sftp -b").length > 0);
    stop.abort();
    await expect(fetching).rejects.toMatchObject({ code: "cancelled" });
    expect(readdirSync(here)).toEqual([]);
    expect(processesWith(optionsFor(server).controlDir).filter((line) => line.includes("sftp"))).toEqual([]);
  });

  it("links are copied as links", async () => {
    const server = await serverForTest();
    const environment = await environmentForTest(server, { copyWith: "sftp" });
    const here = tempDir();
    mkdirSync(join(here, "tree"));
    writeFileSync(join(here, "tree", "file"), "x");
    symlinkSync("file", join(here, "tree", "link"));
    await environment.push({ from: join(here, "tree"), to: join(server.home, "tree") });
    await environment.fetch({ from: join(server.home, "tree"), to: join(here, "back") });
    const names = readdirSync(join(here, "back"), { withFileTypes: true });
    expect(names.map((entry) => [entry.name, entry.isSymbolicLink()]).sort()).toEqual([
      ["file", false],
      ["link", true],
    ]);
    expect(readdirSync(here).sort()).toEqual(["back", "tree"]);
  });
});

async function environmentForTest(server: SshServer, more: Partial<SshOptions> = {}): Promise<Environment> {
  const environment = await createSshEnvironment(optionsFor(server, more));
  onTestEnd(() => environment.close());
  return environment;
}

function exec(environment: Environment, command: string, more: Partial<ExecRequest> = {}) {
  return environment.exec({
    command,
    cwd: "/",
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ...more,
  });
}
