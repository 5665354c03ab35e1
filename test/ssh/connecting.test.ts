// @needs sshd ssh
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkSshOptions } from "../../src/env/ssh/options.js";
import { onTestEnd } from "../support/runtime.js";
import { findProgram, makeKey } from "../support/ssh-server.js";
import { eventually, optionsFor, processesWith, run, serverForTest, transportForTest } from "./support.js";

describe("logging in", () => {
  it("works with a key file, and only this account can reach the socket", async () => {
    const options = optionsFor(await serverForTest());
    chmodSync(options.controlDir, 0o755);
    const transport = transportForTest(options);
    expect((await run(transport, ["echo", "in"])).stdout).toBe("in\n");
    expect(statSync(options.controlDir).mode & 0o777).toBe(0o700);
  });

  it("works with a key that only the agent holds", async () => {
    const server = await serverForTest();
    const { socket } = await startAgent(server.folder);
    execFileSync("ssh-add", ["-q", server.keyFile], { env: { ...process.env, SSH_AUTH_SOCK: socket } });
    const configFile = join(server.folder, "agent_config");
    writeFileSync(configFile, "GlobalKnownHostsFile /dev/null\nIdentityFile none\n");
    const { keyFile: _, ...options } = optionsFor(server, {
      configFile,
      env: { ...process.env, SSH_AUTH_SOCK: socket },
    });
    const transport = transportForTest(options);
    expect((await run(transport, ["echo", "in"])).stdout).toBe("in\n");
  });

  it("follows the ssh configuration: a Host with its own address, port, user and key, through a jump host", async () => {
    const server = await serverForTest();
    const gate = await serverForTest();
    const configFile = join(server.folder, "jump_config");
    const common = ["GlobalKnownHostsFile /dev/null", "IdentityAgent none", "StrictHostKeyChecking yes"];
    const entry = (name: string, of: typeof server) => [
      `Host ${name}`,
      `HostName ${of.host}`,
      `Port ${of.port}`,
      `User ${of.user}`,
      `IdentityFile ${of.keyFile}`,
      `UserKnownHostsFile ${of.knownHostsFile}`,
    ];
    const far = [...entry("far", server), "ProxyJump gate", "RemoteCommand uname", "RequestTTY force"];
    writeFileSync(configFile, [...far, ...entry("gate", gate), "Host *", ...common, ""].join("\n"));
    const transport = transportForTest({ host: "far", configFile, controlDir: join(server.folder, "ctl") });
    expect((await run(transport, ["echo", "there"])).stdout).toBe("there\n");
    expect(gate.connections()).not.toEqual([]);
    await transport.close();
    expect(await eventually(() => gate.connections().length === 0)).toBe(true);
    expect(processesWith(configFile)).toEqual([]);
  });

  it("a wrong key is refused, and the error names the keys that were offered", async () => {
    const server = await serverForTest();
    const keyFile = join(server.folder, "stranger");
    makeKey(keyFile);
    const transport = transportForTest(optionsFor(server, { keyFile }));
    await expect(run(transport, ["true"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/refused \(publickey\).*stranger/s),
      hint: expect.stringContaining("authorized_keys"),
    });
    expect(readdirSync(join(server.folder, "ctl"))).toEqual([]);
  });

  it("a key with a passphrase is not asked for", async () => {
    const server = await serverForTest();
    execFileSync("ssh-keygen", ["-q", "-p", "-P", "", "-N", "secret", "-f", server.keyFile], {
      stdio: "ignore",
    });
    const transport = transportForTest(optionsFor(server));
    await expect(run(transport, ["true"])).rejects.toMatchObject({
      hint: expect.stringContaining("ssh-add"),
    });
  });

  it("a program that is not there is named", async () => {
    const transport = transportForTest(optionsFor(await serverForTest(), { program: "/nonexistent/ssh" }));
    await expect(run(transport, ["true"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("/nonexistent/ssh"),
    });
  });
});

describe("the key of the host", () => {
  it("is recorded at the first contact and required from then on", async () => {
    const server = await serverForTest();
    const knownHostsFile = join(server.folder, "new known hosts");
    const options = optionsFor(server, { knownHostsFile });
    const first = transportForTest(options);
    await run(first, ["true"]);
    await first.close();
    expect(readFileSync(knownHostsFile, "utf8")).toContain(`[127.0.0.1]:${server.port} ssh-ed25519`);
    const strict = transportForTest({ ...options, hostKeyPolicy: "strict" });
    expect((await run(strict, ["echo", "known"])).stdout).toBe("known\n");
  });

  it("of a stranger is refused by the strict policy and not recorded", async () => {
    const server = await serverForTest();
    const knownHostsFile = join(server.folder, "none");
    const transport = transportForTest(optionsFor(server, { knownHostsFile, hostKeyPolicy: "strict" }));
    await expect(run(transport, ["true"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("is not known"),
    });
    expect(existsSync(knownHostsFile)).toBe(false);
  });

  it("is never accepted when it has changed; the error shows the fingerprint and what to do", async () => {
    const server = await serverForTest();
    const before = readFileSync(server.knownHostsFile, "utf8");
    await server.changeHostKey();
    const options = optionsFor(server);
    // Not even when the person's own configuration says so.
    writeFileSync(server.configFile, "StrictHostKeyChecking no\nGlobalKnownHostsFile /dev/null\n");
    await expect(run(transportForTest(options), ["true"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/not the one recorded.*SHA256:/s),
      hint: expect.stringContaining("ssh-keygen -R"),
    });
    expect(readFileSync(server.knownHostsFile, "utf8")).toBe(before);
  });
});

describe("a host that cannot be reached", () => {
  it("does not exist", async () => {
    const transport = transportForTest(optionsFor(await serverForTest(), { host: "no-such-host.invalid" }));
    await expect(run(transport, ["true"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("there is no host called no-such-host.invalid"),
    });
  });

  it("refuses connections", async () => {
    const server = await serverForTest();
    const transport = transportForTest(optionsFor(server, { port: await unusedPort() }));
    await expect(run(transport, ["true"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("refused"),
    });
  });

  it("accepts a connection and never answers: that is noticed in time", async () => {
    const server = await serverForTest();
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    onTestEnd(() => void silent.close());
    const address = silent.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const started = performance.now();
    const transport = transportForTest(optionsFor(server, { port, connectSeconds: 1 }));
    await expect(run(transport, ["true"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("timed out"),
    });
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  it("speaks something else", async () => {
    const server = await serverForTest();
    const chatty = createServer((socket) => void socket.end("220 mail.example.org ESMTP\r\n"));
    await new Promise<void>((resolve) => chatty.listen(0, "127.0.0.1", resolve));
    onTestEnd(() => void chatty.close());
    const address = chatty.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    await expect(run(transportForTest(optionsFor(server, { port })), ["true"])).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("before the login"),
    });
  });
});

describe("settings of an ssh host", () => {
  const base = { host: "example.org", controlDir: "/nonexistent" };

  it.each([
    ["-oProxyCommand=id"],
    ["a b"],
    ["a;id"],
    ["$(id)"],
    ["`id`"],
    [""],
    ["a\nb"],
    ["user@host"],
    ["a'b"],
  ])("refuse the host %j", (host) => {
    expect(() => checkSshOptions({ ...base, host })).toThrow(/ssh host/);
  });

  it.each([["-l"], ["a b"], ["a;b"], ["a'b"], [""], ["a\\b"]])("refuse the user %j", (user) => {
    expect(() => checkSshOptions({ ...base, user })).toThrow(/ssh user/);
  });

  it("refuse switching the check of host keys off, in every spelling", () => {
    const policy = JSON.parse('{"hostKeyPolicy":"off"}') as object;
    expect(() => checkSshOptions({ ...base, ...policy })).toThrow(/hostKeyPolicy/);
    for (const name of ["StrictHostKeyChecking", "stricthostkeychecking", "BatchMode", "ControlPath"]) {
      expect(() => checkSshOptions({ ...base, sshOptions: { [name]: "no" } })).toThrow(/ssh option/);
    }
    expect(() => checkSshOptions({ ...base, sshOptions: { "X\n": "y" } })).toThrow(/ssh option/);
  });

  it("accept what is usual", () => {
    for (const host of ["example.org", "10.0.0.1", "::1", "fe80::1%eth0", "my_host-2"])
      checkSshOptions({ ...base, host });
    checkSshOptions({ ...base, user: "first.last@corp", port: 22, sshOptions: { ProxyJump: "gate" } });
  });
});

async function startAgent(folder: string): Promise<{ readonly socket: string }> {
  const socket = join(folder, "agent");
  const agent: ChildProcess = spawn(findProgram("ssh-agent") ?? "ssh-agent", ["-D", "-a", socket], {
    stdio: "ignore",
  });
  onTestEnd(() => void agent.kill());
  await eventually(() => existsSync(socket));
  return { socket };
}

async function unusedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
