import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { KEY, startChat } from "./support.js";

const WAITS = {
  calls: [
    { id: "w", name: "terminal", arguments: { command: "until [ -e go ]; do sleep 0.05; done; echo went" } },
  ],
};

it("lesson 87: steering is heard at the next boundary, what is queued when the turn is over and as it was edited", async () => {
  const chat = await startChat([WAITS, { text: "First is done." }, { text: "Second is done." }]);
  await chat.type(`begin${KEY.enter}`);
  await chat.sees(/terminal {2}until/);
  await chat.type("mind the gap");
  await chat.type(KEY.ctrlS);
  await chat.sees("↪ mind the gap");
  await chat.type(`and thn this${KEY.enter}`);
  await chat.sees("⏳ and thn this");
  await chat.type(KEY.up);
  await chat.sees("› and thn this");
  await chat.type("\u0017\u0017then this");
  await chat.sees("› and then this");
  await chat.type(KEY.enter);
  await chat.sees("⏳ and then this");
  expect(chat.server.requests).toHaveLength(1);
  writeFileSync(join(chat.cwd, "go"), "");
  await chat.printed("Second is done.");
  const [, second, third] = chat.server.requests;
  expect(second?.messages.at(-1)?.text).toBe("mind the gap");
  expect(third?.messages.at(-1)?.text).toBe("and then this");
  expect(chat.server.requests).toHaveLength(3);
});

it("lesson 87: stop ends it at once, answers every call, and gives back what was queued", async () => {
  const chat = await startChat([WAITS, { text: "On we go." }]);
  await chat.type(`begin${KEY.enter}`);
  await chat.sees(/terminal {2}until/);
  await chat.type(`later words${KEY.enter}`);
  await chat.sees("⏳ later words");
  await chat.type(KEY.ctrlC);
  await chat.printed("stopped");
  await chat.sees("› later words");
  expect(chat.server.requests).toHaveLength(1);
  await chat.type(` now${KEY.enter}`);
  await chat.printed("On we go.");
  expect(chat.server.complaints).toEqual([]);
  expect(chat.lastAsked()).toBe("later words now");
});

it("lesson 87: steering that the turn did not hear any more is said as the next message", async () => {
  const chat = await startChat([{ text: "Slow words come here", paceMs: 150 }, { text: "Heard you." }]);
  await chat.type(`begin${KEY.enter}`);
  await chat.sees("Slow");
  await chat.type("too late");
  await chat.type(KEY.ctrlS);
  await chat.printed("Heard you.");
  expect(chat.lastAsked()).toBe("too late");
});
