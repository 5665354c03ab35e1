import { expect, it } from "vitest";
import { KEY, startChat } from "./support.js";

it("lesson 86: Ctrl-J breaks the line, and Enter sends both", async () => {
  const chat = await startChat([{ text: "Two lines." }]);
  await chat.type(`first${KEY.ctrlJ}second`);
  await chat.sees(/› first\n {2}second/);
  expect(chat.server.requests).toHaveLength(0);
  await chat.type(KEY.enter);
  await chat.printed("Two lines.");
  expect(chat.lastAsked()).toBe("first\nsecond");
});

it.for([
  { terminal: "marks what is pasted", paste: "\u001b[200~one\r\ntwo\rthree\n\u001b[201~" },
  { terminal: "does not", paste: "one\rtwo\rthree\r" },
])("lesson 86: what is pasted is never sent, where the terminal $terminal", async ({ paste }) => {
  const chat = await startChat([{ text: "Got it." }]);
  await chat.type(paste);
  await chat.sees(/› one\n {2}two\n {2}three/);
  await chat.type("end");
  await chat.sees(/ {2}end/);
  expect(chat.server.requests).toHaveLength(0);
  await chat.type(KEY.enter);
  await chat.printed("Got it.");
  expect(chat.lastAsked()).toBe("one\ntwo\nthree\nend");
});
