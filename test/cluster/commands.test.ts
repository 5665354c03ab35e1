// @needs nats-server
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { errorLine, hermes, hermesJson, json, outcomeOf, start, tempFolder } from "../cli/hermes.js";
import { eventually } from "../gateway/support.js";
import { KEY, natsUrl, useNats } from "./support.js";

useNats();

interface Row {
  readonly id: string;
  readonly labels: readonly string[];
  readonly toolsets: readonly string[];
  readonly state: string;
  readonly running: number;
}

let clusters = 0;

/** Machines are processes of the built program, each with a home of its own, as somebody would type them. */
function cluster() {
  const name = `c${process.pid}_${++clusters}`;
  const env = { HERMES_CLUSTER_KEY: KEY };
  const home = () => {
    const folder = tempFolder();
    writeFileSync(join(folder, "config.yaml"), `cluster:\n  name: ${name}\n`);
    return folder;
  };
  const there = ["--cluster", natsUrl()];
  const front = { home: home(), env };
  return {
    front,
    there,
    status: () =>
      hermesJson<{ connected: boolean; workers: Row[]; queue: number }>(
        ["cluster", "status", ...there],
        front,
      ),
    call: (words: readonly string[]) => start(["call", ...words, ...there, "--json"], front),
    async worker(more: readonly string[] = []) {
      const child = start(["worker", ...there, "--json", ...more], { home: home(), env });
      child.stdin?.end();
      const ended = outcomeOf(child);
      const [first] = (await Promise.race([once(child.stdout ?? child, "data"), ended])) as unknown[];
      return { child, ended, line: JSON.parse(String(first)) as Omit<Row, "id"> & { worker: string } };
    },
  };
}

describe("the commands of a cluster", () => {
  it("a worker says who it is, the status shows it, calls name it and find it by its labels", async () => {
    const { front, there, status, call, worker } = cluster();
    const gpu = await worker(["--labels", "gpu,region=eu", "--toolsets", "terminal"]);
    expect(gpu.line).toEqual({
      worker: expect.any(String),
      labels: ["gpu", "region=eu"],
      toolsets: ["terminal"],
    });
    const plain = await worker();
    const shown = await status();
    expect(shown).toEqual({ connected: true, workers: expect.any(Array), queue: 0 });
    expect(shown.workers).toHaveLength(2);
    const { worker: id, ...rest } = gpu.line;
    expect(shown.workers).toContainEqual({ id, ...rest, state: "ready", running: 0 });
    const answer = json<{ ok: boolean; id: string; worker: string }>(
      await outcomeOf(call(["terminal", "command=echo here", "--labels", "gpu"])),
    );
    expect(answer).toMatchObject({ ok: true, worker: id });
    expect(await hermesJson(["calls", "show", answer.id], front)).toMatchObject({ worker: id });
    const nowhere = await outcomeOf(call(["terminal", "command=echo here", "--labels", "tpu"]));
    expect(json(nowhere)).toMatchObject({ ok: false, state: "not_started", error: { code: "unavailable" } });
    const drained = await hermesJson(["cluster", "drain", id, ...there], front);
    expect(drained).toEqual({ worker: id, state: "draining" });
    expect((await gpu.ended).code).toBe(0);
    expect((await status()).workers.map((row) => row.id)).toEqual([plain.line.worker]);
    const nobody = await hermes(["cluster", "drain", id, ...there, "--json"], front);
    expect(errorLine(nobody).code).toBe("not_found");
  }, 120_000);

  it("SIGTERM lets the calls of a worker finish", async () => {
    const { status, call, worker } = cluster();
    const leaving = await worker();
    const file = join(tempFolder(), "begun");
    const answered = outcomeOf(call(["terminal", `command=touch ${file}; sleep 2; echo finished`, "--yolo"]));
    await eventually(() => expect(existsSync(file)).toBe(true));
    leaving.child.kill("SIGTERM");
    expect(json(await answered)).toMatchObject({ ok: true, worker: leaving.line.worker });
    expect((await leaving.ended).code).toBe(0);
    expect((await status()).workers).toEqual([]);
  }, 120_000);

  it("a worker that is killed in a call that changes something: unknown, and not run again", async () => {
    const { status, call, worker } = cluster();
    const [one, two] = [await worker(), await worker()];
    const file = join(tempFolder(), "begun");
    const answered = outcomeOf(call(["terminal", `command=echo once >> ${file}; sleep 60`, "--yolo"]));
    await eventually(() => expect(existsSync(file)).toBe(true));
    const busy = (await status()).workers.find(({ running }) => running === 1)?.id;
    const [killed, left] = busy === one.line.worker ? [one, two] : [two, one];
    killed.child.kill("SIGKILL");
    const { code, ...outcome } = await answered;
    expect(code).toBe(3);
    expect(json({ code, ...outcome })).toMatchObject({
      ok: false,
      worker: killed.line.worker,
      error: { code: "unknown" },
    });
    expect(readFileSync(file, "utf8")).toBe("once\n");
    const states = new Map((await status()).workers.map(({ id, state }) => [id, state]));
    expect(states.get(killed.line.worker)).toBe("lost");
    expect(states.get(left.line.worker)).toBe("ready");
  }, 120_000);

  it.each([
    ["worker", []],
    ["call", ["terminal", "command=echo here"]],
    ["cluster", ["status"]],
    ["serve", ["--port", "0"]],
  ])(
    "%s refuses to start without the secret",
    async (command, words) => {
      const { there } = cluster();
      const refused = await hermes([command, ...words, ...there, "--json"], { home: tempFolder() });
      expect(refused.code).toBe(2);
      expect(errorLine(refused)).toMatchObject({
        code: "bad_request",
        hint: expect.stringContaining("HERMES_CLUSTER_KEY"),
      });
    },
    60_000,
  );

  it("the status of servers that are not there says so", async () => {
    const { front } = cluster();
    const seen = await hermes(["cluster", "status", "--cluster", "nats://127.0.0.1:1", "--json"], front);
    expect(seen.code).toBe(7);
    expect(json(seen)).toEqual({ connected: false, workers: [], queue: 0 });
    expect(errorLine(seen)).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("refused"),
      hint: expect.stringContaining("nats-server -js"),
    });
    for (const words of [["workers"], ["drain", "anybody"]]) {
      const { code } = await hermes(["cluster", ...words, "--cluster", "nats://127.0.0.1:1"], front);
      expect(code, words[0]).toBe(7);
    }
  }, 60_000);

  it("doctor says whether the cluster is there, has workers, and is all of one secret", async () => {
    const { front, worker } = cluster();
    const told = async (env: Readonly<Record<string, string>>) => {
      const { stdout } = await hermes(["doctor", "--json"], { ...front, env: { ...front.env, ...env } });
      const { findings } = JSON.parse(stdout) as {
        readonly findings: readonly {
          readonly group: string;
          readonly level: string;
          readonly what: string;
        }[];
      };
      return findings.filter(({ group }) => group === "Cluster").map(({ level, what }) => `${level} ${what}`);
    };
    const there = { HERMES_CLUSTER_URL: natsUrl() };
    expect(await told({})).toEqual([]);
    expect(await told(there)).toEqual([`warning ${natsUrl()}: 0 of 0 workers ready`]);
    await worker();
    expect(await told(there)).toEqual([`ok ${natsUrl()}: 1 of 1 workers ready`]);
    expect(await told({ ...there, HERMES_CLUSTER_KEY: "mistyped" })).toContain(
      "warning workers of another secret: 1",
    );
    expect(await told({ HERMES_CLUSTER_URL: "nats://me:hidden@127.0.0.1:1" })).toEqual([
      expect.stringMatching(/^error no NATS server .*127\.0\.0\.1:1: .*refused/),
    ]);
    expect(await told({ ...there, HERMES_CLUSTER_KEY: "" })).toEqual([
      expect.stringMatching(/^error a cluster needs a secret/),
    ]);
  }, 120_000);

  it("labels choose among workers: without a cluster nothing runs", async () => {
    const home = tempFolder();
    for (const words of [
      ["call", "sleep", "seconds=0"],
      ["chat", "-q", "hello"],
    ]) {
      const refused = await hermes([...words, "--labels", "gpu", "--json"], { home });
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(errorLine(refused).hint).toContain("--cluster");
    }
  }, 60_000);

  it("the status says that there are workers of another secret", async () => {
    const { front, there, worker } = cluster();
    await worker();
    const env = { HERMES_CLUSTER_KEY: "mistyped" };
    const seen = await hermes(["cluster", "status", ...there], { ...front, env });
    expect(seen).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^[^✓\w]+ 0 of 0 workers ready/),
      stderr: expect.stringMatching(/^1 more of another secret: .*KEY/),
    });
    const told = await hermes(["cluster", "status", ...there, "--json"], { ...front, env });
    expect(json(told)).toEqual({ connected: true, workers: [], queue: 0, strangers: 1 });
  }, 60_000);

  it.each([
    [
      "a name that cannot be one",
      { HERMES_CLUSTER_NAME: "prod-eu" },
      "lower-case letters, digits and underscores",
    ],
    [
      "a key that is not there",
      { HERMES_CLUSTER_NKEY_FILE: "/no/such.nk" },
      "cluster.nkey_file: /no/such.nk",
    ],
    ["a key that is none", { HERMES_CLUSTER_NKEY_FILE: "/etc/passwd" }, "cluster.nkey_file: /etc/passwd"],
    ["an authority that is not there", { HERMES_CLUSTER_TLS_CA: "/no/ca.pem" }, "cluster.tls_ca: /no/ca.pem"],
  ])(
    "nothing starts with %s",
    async (_what, wrong, said) => {
      const { front, there } = cluster();
      const options = { ...front, env: { ...front.env, ...wrong } };
      const commands = [["worker"], ["cluster", "status"], ["call", "sleep", "seconds=0"]];
      const refused = await Promise.all(
        commands.map((words) => hermes([...words, ...there, "--json"], options)),
      );
      for (const { code, stderr } of refused) {
        expect(code).toBe(2);
        expect(stderr).toMatch(/"code":"bad_request"/);
        expect(stderr).toContain(said);
      }
    },
    60_000,
  );
});
