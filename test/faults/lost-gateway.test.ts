import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { type Decide, eventually, hubWith, telegramAt } from "../gateway/support.js";
import { startFreezableProxy } from "../support/freezable-proxy.js";
import { TelegramServer } from "../support/platforms/telegram-server.js";
import { onTestEnd, tempDir } from "../support/runtime.js";
import { report } from "./figures.js";
import { FULL } from "./support.js";

const ROUNDS = FULL ? 5 : 1;
const TIMEOUT_S = 4;
const WAYS = ["cut", "freeze"] as const;

/** Removes a folder, which is asked about, then says what came of it. */
const REMOVES: Decide = (last, { messages }) =>
  messages.at(-1)?.role === "tool"
    ? `result: ${last}`
    : { call: "terminal", arguments: { command: "rm -r build" } };

/** What happens while the connection is gone, and whether the call may run in the end. */
const STORIES = [
  { what: "nobody answers", mayRun: false },
  { what: "the answer comes after it is back", mayRun: true },
  { what: "the answer is given meanwhile, and arrives too late", mayRun: false },
  { what: "the process ends, and the next one gets the answer", mayRun: false },
] as const;

test(`a gateway that loses its connection while a question waits, ${ROUNDS * STORIES.length * (FULL ? 2 : 1)} times`, async () => {
  const wrong: string[] = [];
  let trials = 0;
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [at, story] of STORIES.entries())
      for (const how of FULL ? WAYS : WAYS.slice(at % 2, (at % 2) + 1)) {
        trials += 1;
        const ran = await play(story.what, how);
        if (ran !== story.mayRun) wrong.push(`${how}, ${story.what}: ${ran ? "it ran" : "it did not run"}`);
      }
  if (wrong.length > 0) console.error(wrong.join("\n"));
  report({
    id: "M4",
    what: "gateway connection closed or silent while a question waits: no answer, one after it is back, one that is late, one for the next process",
    trials,
    seen: `${wrong.length} calls that ran without an answer in time, or did not run with one`,
    goal: "denied or asked again, never run without an answer",
    pass: wrong.length === 0,
  });
}, 600_000);

/** Whether the command ran. */
async function play(story: (typeof STORIES)[number]["what"], how: "cut" | "freeze"): Promise<boolean> {
  const server = await new TelegramServer().listen();
  const proxy = await startFreezableProxy(Number(new URL(server.apiRoot).port));
  onTestEnd(() => proxy.stop());
  const gateway = () =>
    telegramAt({ token: server.token, apiRoot: `http://127.0.0.1:${proxy.port}` }, { silenceMs: 2_000 });
  const [cwd, home] = [tempDir(), tempDir()];
  mkdirSync(join(cwd, "build"));
  const isThere = () => existsSync(join(cwd, "build"));
  const config = `approvals: {timeout: ${TIMEOUT_S}}\n`;
  const hub = await hubWith({ gateways: [gateway()], decide: REMOVES, cwd, home, config });
  server.say({ text: "clean up" });
  await eventually(() => expect(server.shown.some(({ buttons }) => buttons.length > 0)).toBe(true));
  const shown = server.shown.findLast(({ buttons }) => buttons.length > 0);
  if (shown === undefined) throw new Error("nobody was asked");
  const once = shown.buttons[0]?.callback_data ?? "";
  proxy[how]();
  if (story === "the answer comes after it is back") {
    await pause(300);
    proxy.thaw();
    server.pressData(shown, once);
    await eventually(() => expect(isThere()).toBe(false));
    return true;
  }
  if (story === "the process ends, and the next one gets the answer") {
    await hub.close();
    proxy.thaw();
    await hubWith({ gateways: [gateway()], decide: () => "I stopped.", cwd, home, config });
  } else {
    if (story !== "nobody answers") server.pressData(shown, once);
    await pause((TIMEOUT_S + 1) * 1_000);
    proxy.thaw();
  }
  if (story !== "nobody answers") server.pressData(shown, once);
  // Long enough for an answer that counts to have been carried out.
  await pause(1_500);
  return !isThere();
}
