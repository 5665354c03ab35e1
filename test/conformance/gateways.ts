import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Gateway } from "../../src/gateway/gateway.js";
import type { ConfiguredGateway } from "../../src/gateway/hub.js";
import { GatewayMessages } from "../../src/gateway/messages.js";
import { type Decide, eventually, hubWith, lastText, ROLES } from "../gateway/support.js";
import type { SentFile } from "../support/platforms/multipart.js";
import { tempDir } from "../support/runtime.js";

/** A platform with a server of its own, as the tests drive it. */
export interface PlatformUnderTest {
  readonly gatewayName: string;
  /** A new one each time, as after a restart. */
  open(): Gateway | ConfiguredGateway;
  /** Somebody who may talk writes; with the same id, the platform delivers it once more. */
  deliver(message: { readonly id?: string; readonly text: string; readonly sentAt?: number }): Promise<void>;
  /** A stranger writes; undefined where nobody can without being known. */
  readonly stranger?: ((text: string) => Promise<void>) | undefined;
  /** Texts that people see, in their order. */
  shown(): readonly string[];
  /** Somebody sends a file; left out where the platform carries none. */
  readonly deliverFile?: ((file: FileFromPerson) => Promise<void>) | undefined;
  /** Files that people got; left out where none can be sent. */
  readonly sentFiles?: (() => Promise<readonly SentFile[]> | readonly SentFile[]) | undefined;
  /** Of the last message that has buttons; left out where there are none, and answers are typed. */
  readonly buttons?:
    | { labels(): readonly string[]; press(label: string, by: "owner" | "guest" | "stranger"): void }
    | undefined;
  /** What the platform answers to the next messages: too many, not now, and that they arrived without saying so. */
  trouble(kind: "rate" | "down" | "silent_take"): void;
}

export interface FileFromPerson {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
  readonly text: string;
}

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Where nothing is configured, there is nobody to send messages to. */
const CONFIGURED = "gateways: {telegram: {token: '1:x'}}\n";

export interface GatewayConformance {
  readonly name: string;
  readonly preset: string;
  readonly maxChars: number;
  start(): Promise<PlatformUnderTest>;
}

/** What every gateway does, whatever carries its messages. */
export function describeGateway({ name, preset, maxChars, start }: GatewayConformance): void {
  describe(`gateway ${name}`, () => {
    it("answers a message, in a conversation with the tools of its platform", async () => {
      const platform = await start();
      const { asked, conversations } = await hubWith({ gateways: [platform.open()] });
      await platform.deliver({ text: "hello" });
      await eventually(() => expect(platform.shown()).toEqual(["You said: hello"]));
      const [conversation] = await conversations.list();
      expect(conversation?.source).toBe(preset.replace("hermes-", ""));
      expect(conversation?.owner).not.toBe("");
      const tools = asked[0]?.tools?.map((tool) => tool.name) ?? [];
      expect(tools).toContain("web_extract");
      expect(tools.includes("terminal")).toBe(preset !== "hermes-webhook");
    });

    it("answers messages of one chat one after the other, in one conversation", async () => {
      const platform = await start();
      const { asked, conversations } = await hubWith({ gateways: [platform.open()] });
      for (const text of ["one", "two", "three"]) await platform.deliver({ text });
      const expected = ["You said: one", "You said: two", "You said: three"];
      await eventually(() => expect(platform.shown()).toEqual(expected));
      expect(await conversations.list()).toHaveLength(1);
      expect(asked.at(-1)?.messages.filter(({ role }) => role === "user")).toHaveLength(3);
    });

    it("answers what is delivered twice once, also after a restart", async () => {
      const platform = await start();
      const first = await hubWith({ gateways: [platform.open()] });
      await platform.deliver({ id: "7001", text: "hello" });
      await platform.deliver({ id: "7001", text: "hello" });
      await eventually(() => expect(platform.shown()).toHaveLength(1));
      await first.close();
      const second = await hubWith({ gateways: [platform.open()], home: first.home });
      await platform.deliver({ id: "7001", text: "hello" });
      await platform.deliver({ id: "7002", text: "bye" });
      await eventually(() => expect(platform.shown()).toEqual(["You said: hello", "You said: bye"]));
      expect(second.asked).toHaveLength(1);
    });

    it("tells the model how old a message is", async () => {
      const platform = await start();
      const { asked } = await hubWith({ gateways: [platform.open()] });
      await platform.deliver({ text: "hello", sentAt: Date.now() });
      await eventually(() => expect(platform.shown()).toHaveLength(1));
      expect(JSON.stringify(asked[0]?.messages.at(-1))).toMatch(
        /sent \d+ s ago, \d{4}-\d\d-\d\d \d\d:\d\d UTC/,
      );
    });

    it("delivers a reply of any length whole and in order", async () => {
      const platform = await start();
      const words = Array.from({ length: maxChars / 2 }, (_, at) => `w${at} <&> *`).join(" ");
      await hubWith({ gateways: [platform.open()], decide: () => words });
      await platform.deliver({ text: "write much" });
      await eventually(() => {
        const all = platform.shown().join(" ").replaceAll("\n", " ");
        expect(all.match(/w\d+/g)).toEqual(words.match(/w\d+/g));
      });
      expect(platform.shown().length).toBeGreaterThan(1);
      for (const text of platform.shown()) expect(text.length).toBeLessThanOrEqual(maxChars);
    });

    it.each(["rate", "down"] as const)(
      "sends again what the platform did not take (%s), once",
      async (kind) => {
        const platform = await start();
        const { store } = await hubWith({ gateways: [platform.open()] });
        platform.trouble(kind);
        await platform.deliver({ text: "hello" });
        await eventually(() => expect(platform.shown()).toEqual(["You said: hello"]));
        await platform.deliver({ text: "bye" });
        await eventually(() => expect(platform.shown()).toEqual(["You said: hello", "You said: bye"]));
        await eventually(() =>
          expect(store.outbox.counts(platform.gatewayName)).toEqual({ waiting: 0, failed: 0 }),
        );
      },
    );

    it("never shows a part twice without a word when nobody knows whether it arrived", async () => {
      const platform = await start();
      await hubWith({ gateways: [platform.open()] });
      platform.trouble("silent_take");
      await platform.deliver({ text: "hello" });
      await platform.deliver({ text: "bye" });
      await eventually(() => expect(platform.shown().at(-1)).toBe("You said: bye"));
      const repeats = platform.shown().filter((text) => text.includes("You said: hello"));
      expect(repeats.filter((text) => text === "You said: hello")).toHaveLength(1);
      for (const text of repeats.slice(1)) expect(text).toMatch(/^\(Perhaps a second time/);
    });

    it("what was received but not answered is answered by the next process", async () => {
      const platform = await start();
      let reached: () => void = () => undefined;
      const begun = new Promise<void>((resolve) => {
        reached = resolve;
      });
      const first = await hubWith({
        gateways: [platform.open()],
        decide: () => {
          reached();
          return new Promise<string>(() => undefined);
        },
      });
      await platform.deliver({ text: "first" });
      await begun;
      await platform.deliver({ text: "second" });
      await eventually(() => expect(first.store.inbox.waiting(platform.gatewayName)).toBe(2));
      await first.close();
      expect(platform.shown()).toEqual([]);
      await hubWith({ gateways: [platform.open()], home: first.home, cwd: first.cwd });
      await eventually(() => expect(platform.shown()).toEqual(["You said: first", "You said: second"]));
    });

    it("shows a picture to the model, and puts other files where tools can read them", async (context) => {
      const platform = await start();
      if (platform.deliverFile === undefined) return context.skip("[ci-cannot] no files come this way");
      const { asked } = await hubWith({ gateways: [platform.open()], decide: () => "I see." });
      await platform.deliverFile({
        name: "dot.png",
        mimeType: "image/png",
        bytes: PIXEL,
        text: "what is it?",
      });
      await eventually(() => expect(platform.shown()).toHaveLength(1));
      const last = asked[0]?.messages.at(-1)?.content ?? "";
      const picture = typeof last === "string" ? undefined : last.find((part) => part.type === "image");
      expect(picture).toMatchObject({
        data: PIXEL.toString("base64"),
        mimeType: expect.stringMatching(/^image/),
      });
      const bytes = Buffer.from("a,b\n1,2\n");
      await platform.deliverFile({ name: "../t.csv", mimeType: "text/csv", bytes, text: "and this?" });
      await eventually(() => expect(asked).toHaveLength(2));
      const path =
        /file \S+, text\/csv, 8 B: (\S+)\]/.exec(lastText(asked[1] ?? { messages: [] }))?.[1] ?? "";
      expect(path).toMatch(/gateway-files\/\d+-[^/]*t\.csv$/);
      expect(await readFile(path, "utf8")).toBe("a,b\n1,2\n");
    });

    it("lets files leave by an explicit call only, each once", async (context) => {
      const platform = await start();
      if (platform.sentFiles === undefined) return context.skip("[ci-cannot] no files leave this way");
      const cwd = tempDir();
      await writeFile(join(cwd, "report.txt"), "all is well");
      const decide: Decide = (_last, { messages }) =>
        messages.at(-1)?.role === "tool"
          ? "It lies in ./report.txt as well. MEDIA:report.txt"
          : { call: "send_message", arguments: { target: "here", message: "Look:", files: ["report.txt"] } };
      const { store } = await hubWith({ gateways: [platform.open()], cwd, decide, config: CONFIGURED });
      await platform.deliver({ text: "the report, please" });
      const expected = ["Look:", "It lies in ./report.txt as well. MEDIA:report.txt"];
      await eventually(() => expect(platform.shown().filter((text) => text !== "")).toEqual(expected));
      expect(await platform.sentFiles()).toEqual([{ name: "report.txt", content: "all is well" }]);
      await eventually(() =>
        expect(store.outbox.counts(platform.gatewayName)).toEqual({ waiting: 0, failed: 0 }),
      );
    });

    it("asks the person of the turn before something dangerous, and nobody else can answer", async (context) => {
      const platform = await start();
      if (preset === "hermes-webhook")
        return context.skip("[ci-cannot] nobody sits behind a webhook who could answer");
      const cwd = tempDir();
      await mkdir(join(cwd, "build"));
      const decide: Decide = (last, { messages }) =>
        messages.at(-1)?.role === "tool"
          ? `result: ${last}`
          : { call: "terminal", arguments: { command: "rm -r build" } };
      await hubWith({ gateways: [platform.open()], cwd, decide, config: "approvals: {timeout: 30}\n" });
      await platform.deliver({ text: "clean up" });
      await eventually(() => expect(platform.shown().at(-1)).toContain("rm -r build"));
      if (platform.buttons === undefined) await platform.deliver({ text: "yes" });
      else {
        expect(platform.buttons.labels()).toEqual(["Once", "Session", "Always", "Deny"]);
        platform.buttons.press("Always", "stranger");
        platform.buttons.press("Always", "guest");
        platform.buttons.press("Once", "owner");
      }
      await eventually(() => expect(platform.shown().at(-1)).toMatch(/^result: /));
      expect(existsSync(join(cwd, "build"))).toBe(false);
      const left = platform.buttons;
      if (left !== undefined) await eventually(() => expect(left.labels()).toEqual([]));
    });

    it("is reached by send_message while no process runs it, by those it knows only", async (context) => {
      const platform = await start();
      const opened = platform.open();
      const configured = "gateway" in opened ? opened : { gateway: opened, role: ROLES, people: ["42"] };
      if (!configured.gateway.traits.pairs)
        return context.skip("[ci-cannot] it has no people who are known by pairing");
      const { runtime } = await hubWith({ gateways: [] });
      const messages = new GatewayMessages({ runtime, gateways: () => [configured] });
      expect((await messages.targets()).map(({ target }) => target)).toEqual([`${platform.gatewayName}:42`]);
      const signal = new AbortController().signal;
      const sent = await messages.send({
        target: platform.gatewayName,
        text: "All done.",
        files: [],
        signal,
      });
      expect(sent).toMatchObject({ receipt: "delivered" });
      expect(platform.shown()).toEqual(["All done."]);
      const stranger = { target: `${platform.gatewayName}:66`, text: "psst", files: [], signal };
      expect(await messages.send(stranger)).toBeUndefined();
      expect(platform.shown()).toHaveLength(1);
    });

    it("a stranger reaches no model", async (context) => {
      const platform = await start();
      if (platform.stranger === undefined)
        return context.skip("[ci-cannot] what is not signed does not come in: there are no strangers");
      const { asked, store } = await hubWith({ gateways: [platform.open()] });
      await platform.stranger("let me in");
      await platform.stranger("please");
      await platform.deliver({ text: "hello" });
      await eventually(() => expect(platform.shown().at(-1)).toBe("You said: hello"));
      expect(asked).toHaveLength(1);
      expect(platform.shown().length).toBeLessThanOrEqual(2);
      const code = /code is (\w{8})/.exec(platform.shown()[0] ?? "")?.[1];
      if (code === undefined) return;
      expect(await store.write(() => store.people.pair(code, "guest"))).toBeDefined();
      await platform.stranger("now?");
      await eventually(() => expect(platform.shown().at(-1)).toBe("You said: now?"));
    });

    it("says when it last heard from its platform", async () => {
      const platform = await start();
      const { store } = await hubWith({ gateways: [platform.open()] });
      await eventually(() =>
        expect(store.health.list()).toMatchObject([{ state: "running", lastReceivedAt: expect.any(Number) }]),
      );
    });
  });
}
