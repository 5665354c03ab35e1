// @needs nats-server openssl
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { nkeys } from "@nats-io/transport-node";
import { describe, expect, it } from "vitest";
import { Bus } from "../../src/cluster/bus.js";
import { recordSubject, workerTable } from "../../src/cluster/roster.js";
import { clusterStatus } from "../../src/cluster/status.js";
import { defineTool, joinCluster, startWorker } from "../../src/index.js";
import { silentLogger } from "../../src/observe/log.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { selfSigned } from "../support/certificate.js";
import { startNats } from "../support/nats-server.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";

const where = defineTool({
  name: "where",
  description: "says that it ran",
  parameters: { type: "object" },
  handler: () => "here",
}) as AnyTool;

/** A server that wants TLS and a key of a user. */
async function closedServer() {
  const folder = tempDir();
  const at = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const { key, cert } = selfSigned();
  const user = nkeys.createUser();
  const [keyFile, certFile] = [at("key.pem", key), at("cert.pem", cert)];
  const config = at(
    "nats.conf",
    `tls { cert_file: "${certFile}", key_file: "${keyFile}" }\nauthorization { users: [ { nkey: ${user.getPublicKey()} } ] }\n`,
  );
  const nats = await startNats({ args: ["-c", config] });
  onTestEnd(() => nats.stop());
  const seed = at("user.nk", `${new TextDecoder().decode(user.getSeed())}\n`);
  const open = {
    "cluster.url": `tls://localhost:${nats.port}`,
    "cluster.key": "of the test",
    "cluster.tls_ca": certFile,
    "cluster.nkey_file": seed,
    "cluster.drain_seconds": 0,
  };
  return { open, stranger: at("other.nk", new TextDecoder().decode(nkeys.createUser().getSeed())) };
}

const sockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;

describe("the servers of a cluster", () => {
  it("are left at the start where one has no JetStream for us, as long as there are others", async () => {
    const config = join(tempDir(), "nats.conf");
    writeFileSync(config, 'accounts { A: { users: [{ user: "a", password: "a" }] } }\nno_auth_user: "a"\n');
    const deaf = await startNats({ args: ["-c", config] });
    onTestEnd(() => deaf.stop());
    const whole = await startNats();
    onTestEnd(() => whole.stop());
    const { runtime } = await testRuntime([where], {
      flags: { "cluster.url": `${deaf.url},${whole.url}`, "cluster.key": "of the test" },
    });
    // Which of them is tried first is drawn; of six one begins with the deaf one nearly always.
    const opened = await Promise.all(
      Array.from({ length: 6 }, () => Bus.open(runtime.config.values.cluster, silentLogger)),
    );
    for (const bus of opened) onTestEnd(() => bus.close());
    for (const bus of opened) expect(bus.isConnected).toBe(true);
  }, 60_000);

  it("are reached over TLS with an NKey", async () => {
    const { open } = await closedServer();
    const worker = await testRuntime([where], { flags: open });
    const started = await startWorker(worker.runtime);
    onTestEnd(() => started.drain());
    const front = await testRuntime([where], { flags: open });
    await joinCluster(front.runtime);
    const result = await (await front.runtime.openSession()).call({ name: "where" });
    expect(result).toMatchObject({ ok: true, worker: started.id });
    const status = await clusterStatus(front.runtime.config.values.cluster);
    expect(status).toMatchObject({ connected: true, workers: [{ id: started.id, state: "ready" }] });

    const other = await Bus.open({ ...front.runtime.config.values.cluster, key: "of others" }, silentLogger);
    onTestEnd(() => other.close());
    await (await workerTable(other)).put(
      "a-stranger",
      other.sealLasting(recordSubject(other), { id: "a-stranger" }),
    );
    expect((await clusterStatus(front.runtime.config.values.cluster)).workers).toHaveLength(1);
  });

  it.each<[string, Readonly<Record<string, string>>, RegExp]>([
    ["without the key", { "cluster.nkey_file": "" }, /cluster\.nkey_file/],
    ["with another key", { "cluster.nkey_file": "other" }, /cluster\.nkey_file/],
    ["without the authority that signed their certificate", { "cluster.tls_ca": "" }, /cluster\.tls_ca/],
  ])("let nobody in %s, and say so", async (_how, less, setting) => {
    const { open, stranger } = await closedServer();
    const flags = {
      ...open,
      ...less,
      ...(less["cluster.nkey_file"] === "other" && { "cluster.nkey_file": stranger }),
    };
    const { runtime } = await testRuntime([], { flags });
    const said = await joinCluster(runtime).catch((error: Error) => error.message);
    expect(said).toMatch(/no NATS server of the cluster answers at localhost:\d+: .+/);
    expect(said).toMatch(setting);
  });

  it("that refuse a stream are told with its name, and no connection is left that keeps the process alive", async () => {
    const config = join(tempDir(), "nats.conf");
    const deny = `permissions: { publish: { deny: ["$JS.API.STREAM.*.HERMES_CHATS"] } }`;
    writeFileSync(config, `authorization { users: [{ user: a, password: b, ${deny} }] }\n`);
    const closed = await startNats({ args: ["-c", config] });
    onTestEnd(() => closed.stop());
    const flags = { "cluster.url": `nats://a:b@127.0.0.1:${closed.port}`, "cluster.key": "of the test" };
    const { runtime } = await testRuntime([where], { flags });
    const before = sockets();
    const said = await joinCluster(runtime).catch((error: Error) => error.message);
    expect(said).toMatch(/HERMES_CHATS: .*[Pp]ermissions/);
    expect(runtime.place).toBeUndefined();
    await expect.poll(sockets).toBe(before);
  });

  it("that are not there are told at once, with the address and what to do, but no password", async () => {
    const { runtime } = await testRuntime([], {
      flags: { "cluster.url": "nats://me:s3cret@127.0.0.1:1", "cluster.key": "k" },
    });
    const said = await joinCluster(runtime).catch((error: Error) => error.message);
    expect(said).toMatch(/127\.0\.0\.1:1/);
    expect(said).toMatch(/nats-server -js/);
    expect(said).not.toMatch(/s3cret/);
  });
});
