import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { hermes, start, tempFolder } from "../cli/hermes.js";
import { TelegramServer, TOKEN } from "../support/platforms/telegram-server.js";
import { startScriptedModel } from "../support/scripted-model/server.js";
import { eventually } from "./support.js";

async function world() {
  const telegram = await new TelegramServer().listen();
  const model = await startScriptedModel({
    answer: ({ messages }) => ({
      text: `You said: ${/^message \d+/.exec(messages.findLast(({ role }) => role === "user")?.text ?? "")?.[0] ?? "?"}`,
      waitMs: 20,
    }),
  });
  const home = tempFolder();
  const env = {
    HERMES_MODEL_PROVIDER: "compatible",
    HERMES_MODEL: "scripted",
    HERMES_MODEL_BASE_URL: model.url,
    HERMES_MODEL_API_KEY: "test-key",
    TELEGRAM_BOT_TOKEN: TOKEN,
    TELEGRAM_API_ROOT: telegram.url,
    TELEGRAM_ALLOWED_USERS: "42",
  };
  return { telegram, model, home, env, run: () => start(["gateway", "run", "telegram"], { home, env }) };
}

describe("hermes gateway", () => {
  it("kill -9 at any moment: every message is answered, and none twice without a word", async () => {
    const { telegram, model, run } = await world();
    const rounds = 8;
    for (let round = 0; round < rounds; round++) {
      const process = run();
      telegram.say({ text: `message ${round}` });
      // At a moment nobody has chosen: before the first poll, in the turn, while it is sent, or at rest.
      await sleep(300 + Math.random() * 1_500);
      process.kill("SIGKILL");
      await once(process, "exit");
    }
    const last = run();
    await eventually(() => {
      const texts = telegram.shown.map(({ text }) => text);
      const parked = texts.filter((text) => text.includes("interrupted each time"));
      const answered = new Set(texts.flatMap((text) => /You said: (message \d+)/.exec(text)?.[1] ?? []));
      expect(answered.size + parked.length).toBeGreaterThanOrEqual(rounds);
    });
    const plain = telegram.shown.map(({ text }) => text).filter((text) => text.startsWith("You said"));
    expect(new Set(plain).size).toBe(plain.length);
    expect(model.complaints).toEqual([]);
    last.kill("SIGTERM");
    await once(last, "exit");
    await model.close();
  }, 120_000);

  it("run, status, pair: a stranger is let in by a person at the machine", async () => {
    const { telegram, model, home, env, run } = await world();
    const gateway = run();
    telegram.say({ text: "message 1", from: 77, name: "Eve" });
    await eventually(() => expect(telegram.shown).toHaveLength(1));
    const code = /hermes gateway pair (\w{8})/.exec(telegram.shown[0]?.text ?? "")?.[1] ?? "";
    const status = await hermes(["gateway", "status", "--json"], { home });
    expect(JSON.parse(status.stdout)).toMatchObject({
      gateways: [{ name: "telegram", state: "running", last_received_at: expect.any(String), unanswered: 0 }],
      people: [],
    });
    const byModel = await hermes(["gateway", "pair", code], { home, env: { AI_AGENT: "hermes" } });
    expect(byModel.code).toBe(5);
    const paired = await hermes(["gateway", "pair", code, "--json"], { home });
    expect(JSON.parse(paired.stdout)).toMatchObject({
      ok: true,
      gateway: "telegram",
      id: "77",
      role: "owner",
    });
    telegram.say({ text: "message 2", from: 77, name: "Eve" });
    await eventually(() => expect(telegram.shown.at(-1)?.text).toBe("You said: message 2"));
    expect((await hermes(["gateway", "pair", code], { home })).code).toBe(2);
    const second = await hermes(["gateway", "run", "telegram"], { home, env });
    expect(second.code).toBe(4);
    gateway.kill("SIGTERM");
    const [exit] = await once(gateway, "exit");
    expect(exit).toBe(0);
    const after = JSON.parse((await hermes(["gateway", "status", "--json"], { home })).stdout);
    expect(after.gateways).toMatchObject([{ state: "stopped" }]);
    await model.close();
  }, 60_000);

  it("send_message from another process: by the gateway that runs, or by itself where none does", async () => {
    const { telegram, model, home, env, run } = await world();
    const say = (message: string) =>
      hermes(["call", "send_message", "target=telegram:42", `message=${message}`, "--json"], { home, env });
    const alone = await say("nobody runs");
    expect(JSON.parse(alone.stdout)).toMatchObject({
      ok: true,
      structured: { success: true, receipt: "delivered" },
    });
    const gateway = run();
    telegram.say({ text: "message 1" });
    await eventually(() => expect(telegram.shown.at(-1)?.text).toBe("You said: message 1"));
    const together = await say("somebody runs");
    expect(JSON.parse(together.stdout)).toMatchObject({ ok: true, structured: { receipt: "delivered" } });
    const texts = telegram.shown.map(({ text }) => text);
    expect(texts).toEqual(["nobody runs", "You said: message 1", "somebody runs"]);
    const stranger = await hermes(["call", "send_message", "target=telegram:66", "message=psst"], {
      home,
      env,
    });
    expect(stranger.code).not.toBe(0);
    expect(telegram.shown).toHaveLength(3);
    gateway.kill("SIGTERM");
    await once(gateway, "exit");
    await model.close();
  }, 60_000);

  it("nothing configured says how", async () => {
    const { code, stderr } = await hermes(["gateway", "run"], { home: tempFolder() });
    expect(code).toBe(4);
    expect(stderr).toContain("gateways.telegram.token");
  });
});
