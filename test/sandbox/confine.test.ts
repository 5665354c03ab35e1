// @needs bwrap
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useMachine } from "./confine-support.js";
import { SECRET } from "./support.js";

const { jail, open, run, confine } = useMachine();

describe("a program that is shut in where commands are not", () => {
  test("changes nothing but the folders that were named, and not what others run later", async () => {
    const environment = open();
    mkdirSync(join(jail().workspace, ".git/hooks"), { recursive: true });
    const attempt = [
      'echo x > "$WS/made"; echo x > "$OUT/made"; echo x > "$HOME/made"; echo x > /etc/hermes-made',
      'echo x > "$WS/.env"; echo x > "$WS/.git/hooks/pre-commit"; echo x >> "$WS/.git/config"',
      'mkdir "$WS/.vscode"; echo x > "$WS/.vscode/tasks.json"; echo x > "$WS/.envrc"',
      'mv "$WS/.git" "$WS/away"; echo x > /tmp/mine; ls -A /tmp "$HOME/.ssh" "$HERMES"; cat "$HERMES/config.yaml"',
    ].join("\n");
    const result = await run(environment, attempt);
    expect(result.confinedBy).toBe("bubblewrap");
    expect(result.output).toMatch(/^\/tmp:\n(?:hermes-jail-\S+\n)?mine\n/m);
    expect(result.output).not.toContain(SECRET);
    expect(existsSync(join(jail().workspace, "made"))).toBe(true);
    expect(readFileSync(join(jail().workspace, ".env"), "utf8")).toBe("KEY=1");
    expect(readdirSync(jail().workspace).sort()).toEqual([".env", ".git", "conf", "made", "readme.txt"]);
    expect(readdirSync(join(jail().workspace, ".git/hooks"))).not.toContain("pre-commit");
    expect(existsSync("/tmp/mine") || existsSync("/etc/hermes-made")).toBe(false);
    const unconfined = await environment.exec({
      command: 'cat "$HOME/.ssh/id_ed25519"',
      cwd: jail().workspace,
      timeoutMs: 5_000,
      signal: new AbortController().signal,
    });
    expect(unconfined).toMatchObject({ output: SECRET });
    expect(unconfined).not.toHaveProperty("confinedBy");
  });

  test("takes nothing from the settings and openings of ordinary commands", async () => {
    const environment = open({ mode: "auto", network: true, writable: [jail().outside] });
    const attempt = 'echo x > "$WS/conf/made"; echo x > "$OUT/made"; grep -c : /proc/net/dev';
    const { output } = await run(environment, attempt, {
      workspace: jail().workspace,
      sandbox: { off: true, network: true, write: [jail().home] },
      confine: confine({ writable: [] }),
    });
    expect(output.match(/Read-only file system/g)).toHaveLength(2);
    expect(output).toMatch(/^1$/m);
  });

  test("starts with programs of a PATH below /tmp, and sees nothing else of /tmp", async () => {
    const folder = realpathSync(mkdtempSync("/tmp/hermes-path-"));
    const away = realpathSync(mkdtempSync("/tmp/hermes-away-"));
    try {
      mkdirSync(join(folder, "bin"));
      symlinkSync("/bin/bash", join(folder, "bin/bash"));
      writeFileSync(join(folder, "bin/greet"), "#!/bin/sh\necho hello\n", { mode: 0o755 });
      for (const place of [folder, away]) writeFileSync(join(place, "beside"), SECRET);
      // Whoever may change a folder of PATH could otherwise show a command what he likes.
      symlinkSync(away, join(folder, "led"));
      const PATH = `${folder}/bin:${folder}/led:/usr/bin:/bin`;
      const environment = open({}, { env: { PATH, HOME: jail().home } });
      const { output } = await run(environment, `greet; cat ${folder}/* ${away}/*; ls ${folder}`);
      expect(output).toMatch(/^hello$/m);
      expect(output).not.toContain(SECRET);
      expect(output).toMatch(/^bin$/m);
    } finally {
      for (const place of [folder, away]) rmSync(place, { recursive: true });
    }
  });

  test("reaches the network only when that was named", async () => {
    const server = createServer((socket) => socket.end("hello from the host"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const environment = open();
    const visit = `exec 5<>/dev/tcp/127.0.0.1/${port} && cat <&5`;
    expect((await run(environment, visit)).output).not.toContain("hello");
    const allowed = await run(environment, visit, { confine: confine({ network: true }) });
    expect(allowed.output).toContain("hello from the host");
    server.close();
  });

  test.each([
    ["from the launcher", true],
    ["from this process", false],
  ])(
    "started %s, gets three descriptors, the variables of its request and no other process",
    async (_, launcher) => {
      const environment = open({}, { launcher });
      const look = "ls /proc/self/fd; ls /proc | grep -c '^[0-9]'; env; grep NoNewPrivs /proc/self/status";
      const { output } = await run(environment, ["sh", "-c", look], { env: { GIVEN: "yes" } });
      // ls opens the folder it lists; bubblewrap, sh, ls and grep are all there is.
      expect(output).toMatch(/^0\n1\n2\n3\n4\n/);
      expect(output).toMatch(/^GIVEN=yes$/m);
      expect(output).toMatch(/NoNewPrivs:\s1/);
      expect(output).not.toContain(SECRET);
    },
  );
});

describe("where no sandbox works", () => {
  const broken = { program: "/nonexistent/bwrap" };

  test("a program that needs one is refused with what to install", async () => {
    const refused = run(open(broken), ["true"]);
    await expect(refused).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("/nonexistent/bwrap cannot be run"),
      hint: expect.stringContaining("install the package bubblewrap"),
    });
  });

  test("a program that can do without runs without, and the result does not claim otherwise", async () => {
    const result = await run(open(broken), ["echo", "ran"], { confine: confine({ mode: "auto" }) });
    expect(result).toMatchObject({ output: "ran\n", exitCode: 0 });
    expect(result).not.toHaveProperty("confinedBy");
  });

  test("a machine on which nothing runs without one stays so", async () => {
    const environment = open({ ...broken, mode: "required" });
    await expect(run(environment, ["true"], { confine: confine({ mode: "auto" }) })).rejects.toMatchObject({
      code: "unavailable",
    });
  });
});

describe("a program that goes on", () => {
  test("is shut in with pipes and in a terminal", async () => {
    const environment = open();
    for (const pty of [undefined, { columns: 80, rows: 24 }]) {
      let said = "";
      const child = await environment.spawn({
        command: ["sh", "-c", 'read line; echo "got $line"; cat "$HOME/.ssh/id_ed25519"; exit 3'],
        cwd: jail().workspace,
        confine: confine(),
        ...(pty && { pty }),
        onOutput: (bytes) => {
          said += Buffer.from(bytes).toString();
        },
      });
      expect(child.confinedBy).toBe("bubblewrap");
      await child.write("word\n");
      expect(await child.ended).toEqual({ exitCode: 3 });
      expect(said).toContain("got word");
      expect(said).not.toContain(SECRET);
    }
  });

  test("ends with everything that it left behind", async () => {
    const environment = open();
    const mark = join(jail().workspace, "alive");
    const child = await environment.spawn({
      command: [
        "perl",
        "-e",
        'use POSIX; exit if fork; POSIX::setsid(); exit if fork; while (1) { open my $f, ">", "alive"; sleep 1 }',
      ],
      cwd: jail().workspace,
      confine: confine(),
      onOutput() {},
    });
    await child.ended;
    writeFileSync(mark, "");
    rmSync(mark);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(existsSync(mark)).toBe(false);
  });
});
