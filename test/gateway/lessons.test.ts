import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { signBody } from "../../src/base/signed-body.js";
import { REPEAT_NOTE } from "../../src/gateway/delivery.js";
import type { Gateway, Receiver } from "../../src/gateway/gateway.js";
import { splitText } from "../../src/gateway/split-text.js";
import { telegramHtml } from "../../src/gateway/telegram/html.js";
import { WebhookGateway } from "../../src/gateway/webhook/webhook.js";
import { TelegramServer } from "../support/platforms/telegram-server.js";
import { tempDir } from "../support/runtime.js";
import { type Decide, eventually, hubWith, shows, telegramAt } from "./support.js";

/** Removes a folder, which is asked about, then says what came of it. */
const REMOVES: Decide = (last, { messages }) =>
  messages.at(-1)?.role === "tool"
    ? `result: ${last}`
    : { call: "terminal", arguments: { command: "rm -r build" } };

async function asking(config = "approvals: {timeout: 30}\n") {
  const server = await new TelegramServer().listen();
  const cwd = tempDir();
  mkdirSync(join(cwd, "build"));
  const hub = await hubWith({ gateways: [telegramAt(server)], decide: REMOVES, cwd, config });
  const isThere = () => existsSync(join(cwd, "build"));
  const question = async () => {
    await eventually(() => expect(server.shown.some(({ buttons }) => buttons.length > 0)).toBe(true));
    const shown = server.shown.findLast(({ buttons }) => buttons.length > 0);
    if (shown === undefined) throw new Error("nobody was asked");
    return shown;
  };
  return { server, isThere, question, ...hub };
}

describe("lesson 88: one update is handled once, one text is sent once", () => {
  it("an update that is delivered again during and after the turn is answered once", async () => {
    const server = await new TelegramServer().listen();
    const { asked } = await hubWith({ gateways: [telegramAt(server)] });
    const update = server.say({ text: "hello" });
    server.say({ text: "hello", update });
    await shows(server, ["You said: hello"]);
    server.say({ text: "hello", update });
    server.say({ text: "bye" });
    await shows(server, ["You said: hello", "You said: bye"]);
    expect(asked).toHaveLength(2);
    await eventually(() => expect(server.unconfirmed).toBe(0));
  });
});

describe("lesson 90: a gateway that is thrown out comes back; deafness is noticed", () => {
  it("409 does not end polling", async () => {
    const server = await new TelegramServer().listen();
    const description = "Conflict: terminated by other getUpdates request";
    server.fail({ method: "getUpdates", status: 409, description, times: 3 });
    const { store } = await hubWith({ gateways: [telegramAt(server)] });
    server.say({ text: "hello" });
    await shows(server, ["You said: hello"]);
    expect(store.health.list()).toMatchObject([{ state: "running", restarts: 3 }]);
  });

  it("one that hears nothing any more is started again, and says so", async () => {
    const server = await new TelegramServer().listen();
    let starts = 0;
    const deaf: Gateway = {
      ...plainGateway("deaf"),
      traits: { ...telegramAt(server).traits, silenceMs: 40 },
      async receive() {
        starts += 1;
        await new Promise(() => undefined);
      },
    };
    const { store } = await hubWith({ gateways: [deaf, telegramAt(server)] });
    await eventually(() => expect(starts).toBeGreaterThan(2));
    expect(store.health.list().find(({ gateway }) => gateway === "deaf")?.error).toMatch(
      /nothing was received/,
    );
  });

  it("one that throws leaves the others alone", async () => {
    const server = await new TelegramServer().listen();
    const broken: Gateway = {
      ...plainGateway("broken"),
      traits: telegramAt(server).traits,
      receive: () => Promise.reject(new Error("the socket is gone")),
    };
    const { store } = await hubWith({ gateways: [broken, telegramAt(server)] });
    server.say({ text: "hello" });
    await shows(server, ["You said: hello"]);
    const health = store.health.list().find(({ gateway }) => gateway === "broken");
    expect(health).toMatchObject({ error: "the socket is gone" });
  });

  it("a token that Telegram does not know is a matter for a person", async () => {
    const server = await new TelegramServer("1:other").listen();
    const gateway = telegramAt(Object.assign(Object.create(server), { token: "2:wrong" }) as TelegramServer);
    const { store, logged } = await hubWith({ gateways: [gateway] });
    await eventually(() => expect(store.health.list()).toMatchObject([{ state: "refused" }]));
    expect(JSON.stringify([store.health.list(), logged])).not.toContain("2:wrong");
  });
});

describe("lesson 91: one paced queue per chat, and the platform's wait is obeyed", () => {
  it("nothing is sent to a chat while it is to wait; other chats go on", async () => {
    const server = await new TelegramServer().listen();
    await hubWith({ gateways: [telegramAt(server)] });
    const description = "Too Many Requests: retry after 1";
    server.fail({ method: "sendMessage", status: 429, description, retryAfter: 1 });
    server.say({ text: "one", from: 42 });
    await eventually(() => expect(server.requests.some(({ method }) => method === "sendMessage")).toBe(true));
    server.say({ text: "other", from: 43 });
    await shows(server, ["You said: other", "You said: one"]);
    const sends = server.requests.filter(
      ({ method, fields }) => method === "sendMessage" && String(fields.chat_id) === "42",
    );
    expect(sends).toHaveLength(2);
    expect((sends[1]?.at ?? 0) - (sends[0]?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it("texts go before edits", async () => {
    const server = await new TelegramServer().listen();
    const { store, close, home } = await hubWith({ gateways: [] });
    await store.write(() => {
      store.outbox.add("telegram", { chat: "42", text: "edit", replaces: "1" });
      store.outbox.add("telegram", { chat: "42", text: "final" });
    });
    await close();
    await hubWith({ gateways: [telegramAt(server)], home });
    await eventually(() =>
      expect(server.requests.some(({ method }) => method === "editMessageText")).toBe(true),
    );
    const order = server.requests.map(({ method }) => method).filter((method) => method !== "getUpdates");
    expect(order).toEqual(["sendMessage", "editMessageText"]);
  });
});

describe("lesson 92: long and badly escaped replies arrive", () => {
  it("what Telegram cannot parse is sent as plain characters", async () => {
    const server = await new TelegramServer().listen();
    const description = "Bad Request: can't parse entities: unexpected end";
    server.fail({ method: "sendMessage", status: 400, description });
    await hubWith({ gateways: [telegramAt(server)], decide: () => "**odd** <b" });
    server.say({ text: "hello" });
    await shows(server, ["**odd** <b"]);
  });

  it("what is never taken is reported", async () => {
    const server = await new TelegramServer().listen();
    const description = "Forbidden: bot was blocked by the user";
    server.fail({ method: "sendMessage", status: 403, description });
    const { store, logged } = await hubWith({ gateways: [telegramAt(server)] });
    server.say({ text: "hello" });
    await eventually(() => expect(store.outbox.counts("telegram")).toEqual({ waiting: 0, failed: 1 }));
    expect(logged.join("\n")).toContain("bot was blocked");
  });

  it("pieces are measured as they are sent, and code that is cut is closed and opened again", () => {
    const code = Array.from({ length: 400 }, (_, at) => `if (a < ${at} && b > ${at}) return;`).join("\n");
    const text = `Look:\n\n\`\`\`ts\n${code}\n\`\`\`\n\nDone & <over>.`;
    const pieces = splitText(text, { maxChars: 4_096, rendered: telegramHtml });
    expect(pieces.length).toBeGreaterThan(3);
    for (const piece of pieces) {
      expect(telegramHtml(piece).length).toBeLessThanOrEqual(4_096);
      expect((piece.match(/^```/gm) ?? []).length % 2).toBe(0);
    }
    expect(
      pieces
        .join("\n")
        .replaceAll(/^```(?:ts)?\n?/gm, "")
        .replaceAll("\n", ""),
    ).toBe(text.replaceAll(/^```(?:ts)?\n?/gm, "").replaceAll("\n", ""));
  });
});

describe("lesson 93: dead buttons do not look alive, and a typed answer works", () => {
  it("the buttons go when the question is answered", async () => {
    const { server, question, isThere } = await asking();
    server.say({ text: "clean up" });
    const shown = await question();
    expect(shown.text).toContain("rm -r build");
    expect(shown.buttons.map(({ text }) => text)).toEqual(["Once", "Session", "Always", "Deny"]);
    server.press(shown, "Once");
    await eventually(() => expect(isThere()).toBe(false));
    await eventually(() => expect(shown).toMatchObject({ buttons: [], edits: 1 }));
    expect(shown.text).toContain("→ Once");
    expect(server.toasts).toEqual(["Once"]);
  });

  it("silence is a no, and takes the buttons away", async () => {
    const { server, question, isThere } = await asking("approvals: {timeout: 1.5}\n");
    server.say({ text: "clean up" });
    const shown = await question();
    await eventually(() => expect(shown.buttons).toEqual([]));
    expect(shown.text).toContain("Nobody answered");
    expect(isThere()).toBe(true);
  });

  it.each([
    ["yes", false],
    ["no", true],
    ["/approve", false],
  ])("%s can be typed", async (typed, remains) => {
    const { server, question, isThere } = await asking();
    server.say({ text: "clean up" });
    await question();
    server.say({ text: typed });
    await eventually(() => expect(server.shown.at(-1)?.text).toMatch(/^result/));
    expect(isThere()).toBe(remains);
  });

  it("a button of an earlier process says that it is over and disappears", async () => {
    const { server, question, close, home, isThere } = await asking();
    server.say({ text: "clean up" });
    const shown = await question();
    const data = shown.buttons[0]?.callback_data ?? "";
    await close();
    await hubWith({ gateways: [telegramAt(server)], home, decide: () => "I stopped." });
    server.pressData(shown, data);
    await eventually(() => expect(server.toasts).toEqual(["This question is over."]));
    expect(isThere()).toBe(true);
  });
});

describe("lesson 94: a button is no way around the allow-list, and nobody approves for another", () => {
  it("a stranger, a guest and another owner cannot press", async () => {
    const { server, question, isThere } = await asking();
    server.say({ text: "clean up" });
    const shown = await question();
    server.press(shown, "Always", 66);
    server.press(shown, "Always", 43);
    const refusals = ["You cannot answer this.", "This question is for somebody else."];
    await eventually(() => expect(server.toasts).toEqual(refusals));
    expect(isThere()).toBe(true);
    server.press(shown, "Deny");
    await eventually(() => expect(server.shown.at(-1)?.text).toMatch(/^result/));
    expect(isThere()).toBe(true);
  });

  it("a guest's turn is denied what asks, without a question anywhere", async () => {
    const { server, isThere } = await asking();
    server.say({ text: "clean up", from: 43, name: "Bob" });
    await eventually(() => expect(server.shown).toHaveLength(1));
    expect(server.shown[0]).toMatchObject({ chat: "43", buttons: [] });
    expect(isThere()).toBe(true);
  });

  it("what an owner allowed for the session is not allowed to a guest of the same chat", async () => {
    const { server, question, isThere, cwd } = await asking();
    server.say({ text: "clean up", chat: -5, group: true });
    server.press(await question(), "Session");
    await eventually(() => expect(isThere()).toBe(false));
    await eventually(() => expect(server.shown.some(({ text }) => text.startsWith("result"))).toBe(true));
    mkdirSync(join(cwd, "build"));
    server.say({ text: "clean up", from: 43, chat: -5, group: true });
    await eventually(() =>
      expect(server.shown.filter(({ text }) => text.startsWith("result"))).toHaveLength(2),
    );
    expect(isThere()).toBe(true);
  });

  it("a guest has the narrower tools and a conversation of their own, a stranger in a group no answer", async () => {
    const server = await new TelegramServer().listen();
    const { asked, conversations } = await hubWith({ gateways: [telegramAt(server)] });
    server.say({ text: "hello", chat: -5, group: true });
    await shows(server, ["You said: hello"]);
    server.say({ text: "let me in", from: 66, chat: -5, group: true });
    server.say({ text: "and I?", from: 43, chat: -5, group: true });
    await shows(server, ["You said: hello", "You said: and I?"]);
    const tools = asked.map((request) => request.tools?.map(({ name }) => name) ?? []);
    expect(tools[0]).toContain("terminal");
    expect(
      tools[1]?.filter((name) => !["web_search", "web_extract", "vision_analyze", "clarify"].includes(name)),
    ).toEqual([]);
    expect(asked[1]?.messages.filter(({ role }) => role === "user")).toHaveLength(1);
    expect((await conversations.list()).map(({ owner }) => owner).sort()).toEqual([
      "telegram:-5",
      "telegram:-5 (guests)",
    ]);
  });

  it("guests get no answer where the settings give them no tools", async () => {
    const server = await new TelegramServer().listen();
    const config = "gateways: {guest_toolsets: []}\n";
    const { asked } = await hubWith({ gateways: [telegramAt(server)], config });
    server.say({ text: "hello", from: 43 });
    server.say({ text: "hello", from: 42 });
    await shows(server, ["You said: hello"]);
    expect(asked).toHaveLength(1);
  });

  it("words of another person in the group are no answer", async () => {
    const { server, question, isThere } = await asking();
    server.say({ text: "clean up", chat: -5, group: true });
    const shown = await question();
    expect(shown.chat).toBe("-5");
    server.say({ text: "yes", from: 43, chat: -5, group: true });
    server.say({ text: "no", from: 42, chat: -5, group: true });
    await eventually(() => expect(server.shown.some(({ text }) => text.startsWith("result"))).toBe(true));
    expect(isThere()).toBe(true);
  });
});

describe("lesson 125: a yes from the phone is for one call, and silence is a no", () => {
  it("the next call asks anew, and the first button does not answer it", async () => {
    const server = await new TelegramServer().listen();
    const cwd = tempDir();
    for (const name of ["one", "two"]) mkdirSync(join(cwd, name));
    const decide: Decide = (_last, { messages }) => {
      const done = messages.filter(({ role }) => role === "tool").length;
      const name = ["one", "two"][done];
      return name === undefined ? "Done." : { call: "terminal", arguments: { command: `rm -r ${name}` } };
    };
    await hubWith({ gateways: [telegramAt(server)], decide, cwd, config: "approvals: {timeout: 3}\n" });
    server.say({ text: "clean up" });
    const asks = async (command: string) => {
      const isIt = ({ text, buttons }: (typeof server.shown)[number]) =>
        text.includes(command) && buttons.length > 0;
      await eventually(() => expect(server.shown.some(isIt)).toBe(true));
      const shown = server.shown.find(isIt);
      if (shown === undefined) throw new Error("nobody was asked");
      return shown;
    };
    const first = await asks("rm -r one");
    const data = first.buttons[0]?.callback_data ?? "";
    server.pressData(first, data);
    await asks("rm -r two");
    server.pressData(first, data);
    await eventually(() => expect(server.shown.at(-1)?.text).toBe("Done."));
    expect(existsSync(join(cwd, "one"))).toBe(false);
    expect(existsSync(join(cwd, "two"))).toBe(true);
    expect(server.toasts).toEqual(["Once", "This question is over."]);
  });
});

describe("lesson 97: a signed message cannot be sent again", () => {
  const SECRET = "s";
  const body = Buffer.from(JSON.stringify({ text: "deploy" }));

  it("the same bytes count once, old ones and changed ones never", async () => {
    const gateway = new WebhookGateway({
      name: "ci",
      secret: SECRET,
      rules: () => ({ allowPrivate: false }),
    });
    const { asked } = await hubWith({ gateways: [{ gateway, role: () => "guest" }] });
    const signature = signBody(body.toString(), SECRET);
    await eventually(async () =>
      expect(await gateway.accept({ signature, body })).toMatchObject({ taken: true }),
    );
    expect(await gateway.accept({ signature, body })).toMatchObject({ taken: true, isRepeat: true });
    const later = Date.now() + 6 * 60_000;
    expect(await gateway.accept({ signature, body, now: later })).toMatchObject({ why: "unsigned" });
    const other = Buffer.from(JSON.stringify({ text: "destroy" }));
    expect(await gateway.accept({ signature, body: other })).toMatchObject({ why: "unsigned" });
    const newer = signature.replace(/t=\d+/, `t=${Math.floor(later / 1000)}`);
    expect(await gateway.accept({ signature: newer, body, now: later })).toMatchObject({ why: "unsigned" });
    await eventually(() => expect(asked).toHaveLength(1));
  });
});

describe("lesson 98: what was cut off is gone on with in order, and not for ever", () => {
  it("a message that was interrupted too often is parked, and the next one is answered", async () => {
    const server = await new TelegramServer().listen();
    const first = await hubWith({ gateways: [] });
    const message = {
      id: "1",
      chat: "42",
      person: { id: "42", name: "Ann" },
      text: "restart the machine",
      sentAt: Date.now(),
      isPrivate: true,
    };
    await first.store.write(() => {
      first.store.inbox.add({ gateway: "telegram", message });
      const row = first.store.inbox.next("telegram", "42");
      for (let tries = 0; tries < 3; tries++)
        first.store.inbox.begin(row?.seq ?? 0, { conversation: "gone", after: "" });
    });
    await first.close();
    const { asked } = await hubWith({ gateways: [telegramAt(server)], home: first.home });
    server.say({ text: "are you there?" });
    await eventually(() => expect(server.shown).toHaveLength(2));
    expect(server.shown[0]?.text).toMatch(/interrupted each time/);
    expect(server.shown[1]?.text).toBe("You said: are you there?");
    expect(asked).toHaveLength(1);
  });

  it("an answer that was not sent any more is sent, and the model is not asked again", async () => {
    const server = await new TelegramServer().listen();
    const first = await hubWith({ gateways: [telegramAt(server)] });
    server.say({ text: "hello" });
    await shows(server, ["You said: hello"]);
    const [conversation] = await first.conversations.list();
    const id = conversation?.id ?? "";
    const [system] = await first.conversations.messages(id);
    const message = {
      id: "2",
      chat: "42",
      person: { id: "42", name: "Ann" },
      text: "hello",
      sentAt: Date.now(),
      isPrivate: true,
    };
    await first.store.write(() => {
      first.store.inbox.add({ gateway: "telegram", message });
      const row = first.store.inbox.next("telegram", "42");
      first.store.inbox.begin(row?.seq ?? 0, { conversation: id, after: system?.id ?? "" });
    });
    await first.close();
    const { asked } = await hubWith({ gateways: [telegramAt(server)], home: first.home });
    await shows(server, ["You said: hello", "You said: hello"]);
    expect(asked).toHaveLength(0);
  });

  it("a part whose end nobody saw says that it may be a repetition", async () => {
    const server = await new TelegramServer().listen();
    const first = await hubWith({ gateways: [] });
    await first.store.write(() => {
      const seq = first.store.outbox.add("telegram", { chat: "42", text: "half sent" });
      first.store.outbox.sending(seq);
    });
    await first.close();
    await hubWith({ gateways: [telegramAt(server)], home: first.home });
    await shows(server, [`${REPEAT_NOTE}half sent`]);
  });
});

it("lesson 124: an owner raises the budget from the chat, a guest cannot", async () => {
  const server = await new TelegramServer().listen();
  const { conversations } = await hubWith({
    gateways: [telegramAt(server)],
    config: "model: { budget_usd: 1 }\n",
  });
  server.say({ text: "hello" });
  await eventually(() => expect(server.shown).toHaveLength(1));
  server.say({ text: "/budget 9", from: 43, name: "Bob" });
  await eventually(() => expect(server.shown.at(-1)?.text).toContain("Only an owner"));
  server.say({ text: "/budget 5" });
  await eventually(() => expect(server.shown.at(-1)?.text).toContain("budget of this conversation is $5.00"));
  const [first] = await conversations.list({ limit: 5 });
  expect(await conversations.raisedBudget({ session: first?.id ?? "" })).toBe(5);
});

describe("lesson 99: guests see answers only; old messages are told as old", () => {
  it("why something failed is for owners", async () => {
    const server = await new TelegramServer().listen();
    const decide: Decide = () => {
      throw new Error("the key sk-123 of the owner is wrong at /root/.hermes");
    };
    await hubWith({ gateways: [telegramAt(server)], decide });
    server.say({ text: "hello", from: 43, name: "Bob" });
    await eventually(() => expect(server.shown).toHaveLength(1));
    expect(server.shown[0]?.text).toBe("Something went wrong on my side; I could not answer.");
    server.say({ text: "hello", from: 42 });
    await eventually(() => expect(server.shown).toHaveLength(2));
    expect(server.shown[1]?.text).toMatch(/^That failed: .*is wrong/);
  });

  it("a message of an hour ago says so", async () => {
    const server = await new TelegramServer().listen();
    const { asked } = await hubWith({ gateways: [telegramAt(server)] });
    server.say({ text: "call me in five minutes", at: Date.now() - 3_600_000 });
    await eventually(() => expect(server.shown).toHaveLength(1));
    expect(JSON.stringify(asked[0]?.messages.at(-1))).toContain("Ann, telegram, sent 60 min ago");
  });

  it("what tools do is not shown in the chat", async () => {
    const server = await new TelegramServer().listen();
    const decide: Decide = (_last, { messages }) =>
      messages.at(-1)?.role === "tool"
        ? "Done."
        : { call: "terminal", arguments: { command: "echo hidden" } };
    await hubWith({ gateways: [telegramAt(server)], decide });
    server.say({ text: "go", from: 43 });
    await shows(server, ["Done."]);
  });
});

function plainGateway(name: string): Omit<Gateway, "traits"> {
  return {
    name,
    platform: "telegram",
    receive: async (_receiver: Receiver) => undefined,
    send: async () => ({ sent: true, ref: "1" }),
    rendered: (text) => text,
  };
}
