import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pruneConversations } from "../../../src/agent/sessions/retention.js";
import type { NewMessage } from "../../../src/agent/sessions/types.js";
import { tempDir } from "../../support/runtime.js";
import { ABOUT, conversations, says, talk } from "./support.js";

describe("conversations on disk", () => {
  test("a message comes back equal to what was given, whatever it holds", async () => {
    const folder = tempDir();
    const store = await conversations(folder);
    const { id } = await store.create(ABOUT);
    const given: NewMessage[] = [
      { role: "system", content: "Be kind.\nAlways." },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image", data: "iVBO", mimeType: "image/png" },
        ],
      },
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "call_1", name: "read_file", arguments: '{"path":"a b"}' }],
        opaque: { from: "anthropic:m", json: '{"signature":"a\\u0000b", "x" : 1}' },
      },
      {
        role: "tool",
        content: "nul \0 and half \ud800 a pair",
        toolCallId: "call_1",
        name: "read_file",
        isError: true,
      },
      { role: "summary", content: "" },
    ];
    await store.append(id, given);
    const again = await conversations(folder);
    const back = await again.messages(id);
    expect(back.map(({ id: _id, at: _at, ...message }) => message)).toEqual(given);
  });

  test("any text comes back as it was", async () => {
    const store = await conversations();
    const { id } = await store.create(ABOUT);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 0xffff })), async (codes) => {
        const content = String.fromCharCode(...codes);
        const [added] = await store.append(id, [says(content)]);
        const [back] = await store.messages(id, { last: 1 });
        expect(back).toEqual(added);
      }),
      { numRuns: 60 },
    );
  });

  test("what was said after a message can be taken back: not found again, not counted, others untouched", async () => {
    const store = await conversations();
    const other = await talk(store, ["elephant"]);
    const id = await talk(store, ["first", "giraffe", "zebra"]);
    const [first] = await store.messages(id);
    await store.removeAfter(id, first?.id ?? "");
    expect((await store.messages(id)).map(({ content }) => content)).toEqual(["first"]);
    expect(await store.get(id)).toMatchObject({ messages: 1 });
    expect(await store.search({ words: "zebra", limit: 5 })).toEqual([]);
    expect(await store.messages(other)).toHaveLength(1);
    const [next] = await store.append(id, [says("afterwards")]);
    expect(Number(next?.id)).toBeGreaterThan(Number(first?.id) + 2);
  });

  test("numbers grow within a conversation; the tail and what follows a message are read alone", async () => {
    const store = await conversations();
    const other = await talk(store, ["x"]);
    const id = await talk(store, ["a", "b", "c"]);
    await store.append(other, [says("y")]);
    await store.append(id, [says("d")]);
    const all = await store.messages(id);
    expect(all.map(({ content }) => content)).toEqual(["a", "b", "c", "d"]);
    const numbers = all.map((message) => Number(message.id));
    expect(numbers).toEqual([...numbers].sort((one, two) => one - two));
    expect((await store.messages(id, { last: 2 })).map(({ content }) => content)).toEqual(["c", "d"]);
    expect((await store.messages(id, { after: all[1]?.id ?? "" })).map(({ content }) => content)).toEqual([
      "c",
      "d",
    ]);
    expect(await store.messages(id, { after: "nonsense", last: 1 })).toMatchObject([{ content: "d" }]);
  });

  test("a list is newest first and leaves out those that others handed on", async () => {
    const store = await conversations();
    const first = await talk(store, ["first question\nmore of it"]);
    const second = await talk(store, ["second"]);
    const child = await talk(store, ["of second"], { parent: second, source: "subagent" });
    expect((await store.list()).map(({ id }) => id)).toEqual([second, first]);
    expect((await store.list({ children: true })).map(({ id }) => id)).toEqual([child, second, first]);
    expect((await store.list({ source: "subagent", children: true })).map(({ id }) => id)).toEqual([child]);
    expect(await store.list({ limit: 1 })).toHaveLength(1);
    expect(await store.get(first)).toMatchObject({
      title: "first question",
      messages: 1,
      state: "idle",
      parent: undefined,
    });
    expect(await store.get(child)).toMatchObject({ parent: second });
    await store.update(first, { title: "Better" });
    expect(await store.get(first)).toMatchObject({ title: "Better", model: "test-model" });
  });

  test("what does not exist is an error that says so", async () => {
    const store = await conversations();
    await expect(store.append("nowhere", [says("x")])).rejects.toMatchObject({ code: "not_found" });
    await expect(store.create({ ...ABOUT, parent: "nowhere" })).rejects.toMatchObject({ code: "not_found" });
    expect(await store.get("nowhere")).toBeUndefined();
    expect(await store.delete("nowhere")).toBe(false);
    expect(await store.list()).toEqual([]);
  });

  test("one worker at a time, also within one process; who ended frees it", async () => {
    const folder = tempDir();
    const [store, other] = [await conversations(folder), await conversations(folder)];
    const id = await talk(store, ["x"]);
    expect(await store.begin(id)).toBe(true);
    expect(await store.begin(id)).toBe(false);
    expect(await other.begin(id)).toBe(false);
    expect((await other.get(id))?.state).toBe("running");
    await other.end(id);
    expect((await other.get(id))?.state, "another's end frees nothing").toBe("running");
    await store.end(id);
    expect((await other.get(id))?.state).toBe("idle");
    expect(await other.begin(id)).toBe(true);
  });

  test("what is worked on is not deleted; the rest goes with what it handed on", async () => {
    const store = await conversations();
    const id = await talk(store, ["parent words"]);
    const child = await talk(store, ["child words"], { parent: id });
    await store.begin(child);
    await expect(store.delete(id)).rejects.toMatchObject({ code: "unavailable" });
    await store.end(child);
    expect(await store.delete(id)).toBe(true);
    expect(await store.list({ children: true })).toEqual([]);
    expect(await store.search({ words: "words", limit: 5 })).toEqual([]);
  });

  test("retention: what rested too long, then what takes too much room, the oldest first", async () => {
    const store = await conversations();
    const ids: string[] = [];
    for (const letter of ["a", "b", "c", "d"]) ids.push(await talk(store, [letter.repeat(1_000)]));
    const [oldest = "", busy = "", third = "", newest = ""] = ids;
    await store.begin(busy);
    expect(await pruneConversations(store, { days: 0, maxBytes: 4_000 })).toBe(0);
    expect(await pruneConversations(store, { days: 1, maxBytes: 4_000 })).toBe(0);
    expect(await pruneConversations(store, { days: 0, maxBytes: 3_500 })).toBe(1);
    expect(await store.get(oldest)).toBeUndefined();
    expect(await pruneConversations(store, { days: 0, maxBytes: 2_000 })).toBe(1);
    expect((await store.list()).map(({ id }) => id)).toEqual([newest, busy]);
    expect(await store.get(third)).toBeUndefined();
    expect(await pruneConversations(store, { days: 1, maxBytes: 4_000 }, Date.now() + 2 * 86_400_000)).toBe(
      1,
    );
    expect((await store.list()).map(({ id }) => id)).toEqual([busy]);
  });
});

describe("lesson 75: conversations have owners", () => {
  test("for somebody else they do not exist: not by id, not in lists, not in searches, not to delete", async () => {
    const store = await conversations();
    const hers = await talk(store, ["the secret garden"], { owner: "telegram:1" });
    const his = await talk(store, ["the public garden"], { owner: "telegram:2" });
    const own = await talk(store, ["my garden"]);
    const handedOn = await talk(store, ["a child's garden"], { parent: hers });
    expect(await store.get(handedOn, { owner: "telegram:1" })).toMatchObject({ owner: "telegram:1" });
    const asHim = { owner: "telegram:2" };
    expect(await store.get(hers, asHim)).toBeUndefined();
    expect((await store.list(asHim)).map(({ id }) => id)).toEqual([his]);
    expect(
      (await store.search({ words: "garden", limit: 10, ...asHim })).map(({ session }) => session),
    ).toEqual([his]);
    expect(await store.delete(hers, asHim)).toBe(false);
    expect((await store.list({ owner: "" })).map(({ id }) => id)).toEqual([own]);
    expect(await store.list(), "the person at this machine sees all").toHaveLength(3);
  });
});
