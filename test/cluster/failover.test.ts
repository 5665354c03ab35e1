// @needs nats-server
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { UNKNOWN_OUTCOME } from "../../src/agent/context.js";
import { signBody } from "../../src/base/signed-body.js";
import { hermes, hermesJson, start, tempFolder } from "../cli/hermes.js";
import { eventually } from "../gateway/support.js";
import { TelegramServer, TOKEN } from "../support/platforms/telegram-server.js";
import type { Asked, Step } from "../support/scripted-model/scenario.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { KEY, natsUrl, useNats } from "./support.js";

useNats();

let clusters = 0;

/** Machines are processes of the built program, each with a home of its own. */
async function world(answer: (asked: Asked) => Step) {
  const model = await startScriptedModel({ answer });
  const name = `f${process.pid}_${++clusters}`;
  const env = {
    HERMES_MODEL_PROVIDER: "compatible",
    HERMES_MODEL: "scripted",
    HERMES_MODEL_BASE_URL: model.url,
    HERMES_MODEL_API_KEY: "test-key",
    HERMES_CLUSTER_KEY: KEY,
    HERMES_TOKEN: "a-token-of-the-test-0123456789-abcdef",
  };
  const home = (settings = "") => {
    const folder = tempFolder();
    writeFileSync(join(folder, "config.yaml"), `cluster:\n  name: ${name}\n  url: ${natsUrl()}\n${settings}`);
    return folder;
  };
  return { model, env, home };
}

/** What it prints first, as JSON; the rest is read and forgotten. */
function firstLine(child: ChildProcess): Promise<Record<string, unknown>> {
  child.stdin?.end();
  let complained = "";
  child.stderr?.on("data", (chunk) => {
    complained += String(chunk);
  });
  return new Promise((resolve, reject) => {
    let said = "";
    child.stdout?.on("data", (chunk) => {
      said += String(chunk);
      if (said.includes("\n")) resolve(JSON.parse(said.split("\n", 1)[0] ?? "") as Record<string, unknown>);
    });
    child.once("exit", () => reject(new Error(`it ended without a word: ${complained}`)));
  });
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) throw new Error(`it has ended by itself with ${child.exitCode}`);
  child.kill("SIGKILL");
  await once(child, "exit");
}

const lastOf = ({ messages }: Asked) => messages.at(-1);
const answersIn = ({ messages }: Asked) => messages.filter(({ role }) => role === "tool");

describe("a chat whose node is killed", () => {
  it("goes on on another one: history whole, the call in flight told as unknown, the folder the same", async () => {
    const { model, env, home } = await world((asked) => {
      const last = lastOf(asked);
      const answered = answersIn(asked).length;
      if (last?.role === "user" && last.text.includes("begin"))
        return {
          calls: [{ id: "one", name: "terminal", arguments: { command: "mkdir here; cd here; pwd" } }],
        };
      if (answered === 1)
        return {
          calls: [{ id: "two", name: "terminal", arguments: { command: "echo x >> log; sleep 12" } }],
        };
      if (last?.role === "user" || answered === 2)
        return { calls: [{ id: "three", name: "terminal", arguments: { command: "pwd; wc -l < log" } }] };
      return { text: "all done" };
    });
    const worker = start(["worker", "--json"], { home: home(), env });
    await firstLine(worker);
    const a = home();
    const b = home();
    const first = start(["chat", "-q", "begin", "--jsonl"], { home: a, env, cwd: tempFolder() });
    const { session } = await firstLine(first);
    await eventually(() => expect(model.requests).toHaveLength(2));
    // The order is on its way, or at work.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await killed(first);
    const since = performance.now();
    const second = await hermes(["chat", "--resume", "last", "-q", "go on", "--json"], {
      home: b,
      env,
      cwd: tempFolder(),
    });
    expect(second.stderr).not.toContain("error");
    expect(JSON.parse(second.stdout)).toMatchObject({ session, text: "all done", stop: "end" });
    // The command that was running still does, and the next one of the session waits for it.
    expect(performance.now() - since).toBeLessThan(25_000);
    const shown = await hermesJson<{ messages: { role: string; content: unknown }[] }>(
      ["sessions", "show", String(session)],
      { home: b },
    );
    const said = shown.messages.filter(({ role }) => role !== "system");
    expect(said.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "assistant",
      "tool",
      "user",
      "assistant",
      "tool",
      "assistant",
    ]);
    expect(said[4]?.content).toBe(UNKNOWN_OUTCOME);
    const folder = /\/[^"\\\s]*\/here/.exec(JSON.stringify(said[2]?.content))?.[0];
    // The command was begun once, and not again by itself.
    expect(JSON.stringify(said[7]?.content)).toContain(`${folder}\\\\n1\\\\n`);
    expect(model.complaints).toEqual([]);
    // The machine that died, started again, has what the other one went on with.
    const back = await hermes(["chat", "--resume", String(session), "-q", "once more", "--json"], {
      home: a,
      env,
    });
    expect(JSON.parse(back.stdout)).toMatchObject({ session, text: "all done" });
    // Deleted on one, it is gone on the other.
    expect((await hermes(["sessions", "delete", String(session)], { home: b, env })).code).toBe(0);
    const gone = await hermes(["chat", "--resume", String(session), "-q", "and now?"], { home: a, env });
    expect(gone.stderr).toContain("There is no conversation");
    await killed(worker);
    await model.close();
  }, 90_000);

  it("over HTTP: another server goes on with it, and one that works on it is named", async () => {
    const { model, env, home } = await world((asked) =>
      lastOf(asked)?.text.includes("slowly")
        ? { text: "slow answer", waitMs: 60_000 }
        : { text: `heard ${asked.messages.filter(({ role }) => role === "user").length}` },
    );
    const homes = [home(), home()];
    const servers = homes.map((folder) => start(["serve", "--port", "0", "--json"], { home: folder, env }));
    const urls = await Promise.all(servers.map(async (child) => String((await firstLine(child)).url)));
    const say = async (at: number, text: string, session?: string) => {
      const response = await fetch(new URL("v1/chat/completions", urls[at]), {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${env.HERMES_TOKEN}`,
          ...(session !== undefined && { "x-hermes-session": session }),
        },
        body: JSON.stringify({ messages: [{ role: "user", content: text }] }),
      });
      const body = (await response.json()) as {
        choices?: { message: { content: string } }[];
        hermes?: { session: string };
        detail?: string;
      };
      return { status: response.status, text: body.choices?.[0]?.message.content, body };
    };
    const first = await say(0, "one");
    expect(first.text).toBe("heard 1");
    const session = first.body.hermes?.session ?? "";
    expect((await say(1, "two", session)).text).toBe("heard 2");
    // Its agent is still open there, and has to hear what was said elsewhere.
    expect((await say(0, "three", session)).text).toBe("heard 3");
    const slow = say(0, "slowly", session).catch(() => undefined);
    await eventually(() => expect(model.requests).toHaveLength(4));
    const refused = await say(1, "me too", session);
    expect(refused.status).toBe(409);
    expect(JSON.stringify(refused.body)).toMatch(/node \w+ on /);
    const [a, b] = servers;
    if (a === undefined || b === undefined) throw new Error("two servers were started");
    await killed(a);
    const since = performance.now();
    expect((await say(1, "five", session)).text).toBe("heard 5");
    expect(performance.now() - since).toBeLessThan(10_000);
    await slow;
    expect(model.complaints).toEqual([]);
    await killed(b);
    await model.close();
  }, 90_000);
});

describe("gateways of several nodes", () => {
  it("one runs, the other stands by and takes over: each message is answered once", async () => {
    const { model, env, home } = await world((asked) => {
      const said = asked.messages.filter(({ role }) => role === "user").map(({ text }) => text);
      const last = /message \d+/.exec(said.at(-1) ?? "")?.[0];
      return {
        text: `You said: ${last}, after ${said.length - 1}`,
        waitMs: last === "message 2" ? 3_000 : 0,
      };
    });
    const telegram = await new TelegramServer().listen();
    const options = {
      env: {
        ...env,
        TELEGRAM_BOT_TOKEN: TOKEN,
        TELEGRAM_API_ROOT: telegram.url,
        TELEGRAM_ALLOWED_USERS: "42",
      },
    };
    const run = () => start(["gateway", "run", "telegram", "--json"], { ...options, home: home() });
    const a = run();
    expect(await firstLine(a)).toMatchObject({ gateways: ["telegram"] });
    const b = run();
    expect(await firstLine(b)).toMatchObject({ standby: ["telegram"] });
    telegram.say({ text: "message 1" });
    const shown = () => telegram.shown.map(({ text }) => text);
    await eventually(() => expect(shown()).toEqual(["You said: message 1, after 0"]));
    telegram.say({ text: "message 2" });
    await eventually(() => expect(model.requests).toHaveLength(2));
    const since = performance.now();
    await killed(a);
    telegram.say({ text: "message 3" });
    await eventually(() =>
      expect(shown()).toEqual([
        "You said: message 1, after 0",
        "You said: message 2, after 1",
        "You said: message 3, after 2",
      ]),
    );
    // With the three seconds that the model takes.
    expect(performance.now() - since).toBeLessThan(16_000);
    // One that is told to stop hands over.
    const c = run();
    expect(await firstLine(c)).toMatchObject({ standby: ["telegram"] });
    b.kill("SIGTERM");
    await once(b, "exit");
    telegram.say({ text: "message 4" });
    await eventually(() => expect(shown().at(-1)).toBe("You said: message 4, after 3"));
    expect(shown()).toHaveLength(4);
    expect(model.complaints).toEqual([]);
    await killed(c);
    await model.close();
  }, 120_000);

  it("killed again and again, at moments nobody has chosen: every message is answered, and none twice without a word", async () => {
    const { model, env, home } = await world(({ messages }) => ({
      text: `You said: ${/message \d+/.exec(messages.findLast(({ role }) => role === "user")?.text ?? "")?.[0]}`,
      waitMs: 100,
    }));
    const telegram = await new TelegramServer().listen();
    const options = {
      env: {
        ...env,
        TELEGRAM_BOT_TOKEN: TOKEN,
        TELEGRAM_API_ROOT: telegram.url,
        TELEGRAM_ALLOWED_USERS: "42",
      },
    };
    const run = async () => {
      const child = start(["gateway", "run", "telegram", "--json"], { ...options, home: home() });
      return { child, standby: (await firstLine(child)).standby };
    };
    let running = await run();
    const rounds = 4;
    for (let round = 0; round < rounds; round += 1) {
      const next = await run();
      expect(next.standby).toEqual(["telegram"]);
      telegram.say({ text: `message ${round}` });
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 1_000));
      await killed(running.child);
      running = next;
      await eventually(() => {
        const answered = telegram.shown.map(({ text }) => /message \d+/.exec(text)?.[0]);
        expect(new Set(answered).size).toBe(2 * round + 1);
      });
      // Its answer may have been the work of the one that was killed.
      telegram.say({ text: `message ${rounds + round}` });
      await eventually(() => expect(telegram.shown.at(-1)?.text).toBe(`You said: message ${rounds + round}`));
    }
    const plain = telegram.shown.map(({ text }) => text).filter((text) => text.startsWith("You said"));
    expect(new Set(plain).size).toBe(plain.length);
    expect(model.complaints).toEqual([]);
    await killed(running.child);
    await model.close();
  }, 180_000);

  it("a webhook is taken by any node, and worked on once", async () => {
    const { model, env, home } = await world(({ messages }) => ({
      text: `heard ${messages.filter(({ role }) => role === "user").length}`,
    }));
    const homes = [0, 1].map(() => home("webhooks:\n  build:\n    secret: a-secret-of-the-test\n"));
    const servers = [];
    const urls: string[] = [];
    for (const folder of homes) {
      const child = start(["serve", "--port", "0", "--json"], { home: folder, env });
      servers.push(child);
      urls.push(String((await firstLine(child)).url));
    }
    const post = async (at: number, id: string) => {
      const body = JSON.stringify({ id, text: `build ${id}` });
      const signature = signBody(body, "a-secret-of-the-test");
      const response = await fetch(new URL("hooks/build", urls[at]), {
        method: "POST",
        headers: { "content-type": "application/json", "x-hermes-signature": signature },
        body,
      });
      return { status: response.status, ...((await response.json()) as { repeat?: boolean }) };
    };
    expect(await post(0, "1")).toMatchObject({ status: 202, repeat: false });
    expect(await post(1, "1")).toMatchObject({ status: 202, repeat: true });
    expect(await post(1, "2")).toMatchObject({ status: 202, repeat: false });
    await eventually(() => expect(model.requests).toHaveLength(2));
    const [a, b] = servers;
    if (a === undefined || b === undefined) throw new Error("two servers were started");
    await killed(a);
    await eventually(async () => expect(await post(1, "2")).toMatchObject({ status: 202, repeat: true }));
    expect(await post(1, "3")).toMatchObject({ status: 202, repeat: false });
    // One conversation through all of it, and an answer for each.
    await eventually(() => {
      const last = model.requests.at(-1)?.messages.filter(({ role }) => role === "user") ?? [];
      expect(last.map(({ text }) => /build \d/.exec(text)?.[0])).toEqual(["build 1", "build 2", "build 3"]);
    });
    await killed(b);
    await model.close();
  }, 90_000);
});
