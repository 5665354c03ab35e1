import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { testRuntime } from "../../support/runtime.js";

const SLOTS = Array.from({ length: 100 }, (_, index) => `slot${index}`);

async function runtimeWithFile() {
  const { runtime, cwd } = await testRuntime([], { builtins: true });
  const file = join(cwd, "shared.txt");
  writeFileSync(file, SLOTS.map((slot) => `${slot}=old;\n`).join(""));
  const openSession = () => runtime.openSession({ approver: { ask: async () => "once" } });
  return { openSession, text: () => readFileSync(file, "utf8") };
}

const edit = (slot: string) => ({
  id: `call_${slot}`,
  name: "patch",
  arguments: { path: "shared.txt", old_string: `${slot}=old;`, new_string: `${slot}=new;` },
});

const allNew = SLOTS.map((slot) => `${slot}=new;\n`).join("");

it("100 edits of one file in one message: each acknowledged one is there in the end", async () => {
  const { openSession, text } = await runtimeWithFile();
  const session = await openSession();
  const results = await session.callAll(SLOTS.map(edit));
  expect(results.map(({ ok }) => ok)).toEqual(SLOTS.map(() => true));
  expect(text()).toBe(allNew);
});

it("100 edits of one file by four sessions at once: each acknowledged one is there in the end", async () => {
  const { openSession, text } = await runtimeWithFile();
  const sessions = await Promise.all([1, 2, 3, 4].map(openSession));
  const results = await Promise.all(
    SLOTS.map(async (slot, index) => ({ slot, result: await sessions[index % 4]?.call(edit(slot)) })),
  );
  const acknowledged = results.filter(({ result }) => result?.ok === true).map(({ slot }) => slot);
  for (const slot of acknowledged) expect(text()).toContain(`${slot}=new;\n`);
  expect(acknowledged).toEqual(SLOTS);
});
