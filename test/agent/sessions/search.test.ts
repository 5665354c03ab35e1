import { copyFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tempDir } from "../../support/runtime.js";
import { ABOUT, conversations, filesIn, says, talk } from "./support.js";

/** What is said, and what finds it: words as people type them. */
const GOLDEN: readonly { readonly said: string; readonly by: readonly string[] }[] = [
  {
    said: "Die Größe der Schriftart im Café-Menü wurde über Nacht geändert.",
    by: ["größe", "menu cafe", "CAFÉ", "schriftart"],
  },
  {
    said: "We moved user_session_token from config.yaml to the keyring.",
    by: ["user_session_token", "config.yaml", "KEYRING moved"],
  },
  {
    said: "明天下午三点在北京开会，讨论数据库迁移的方案。",
    by: ["数据", "迁移", "北京", "数据库迁移", "京"],
  },
  {
    said: "昨日のミーティングでサーバーの設定を変更しました。",
    by: ["設定", "サーバー", "ミーティング", "ｻｰﾊﾞｰ"],
  },
  { said: "회의에서 데이터베이스를 옮기기로 결정했습니다.", by: ["회의", "데이터베이스", "결정"] },
  {
    said: "Встреча с Алёной перенесена на пятницу из-за отпуска.",
    by: ["встреча", "ПЯТНИЦУ", "отпуска встреча"],
  },
  { said: "اجتماع الفريق غدًا لمناقشة قاعدة البيانات.", by: ["اجتماع", "البيانات", "غدا"] },
  { said: "डेटाबेस को हिन्दी में समझाया गया।", by: ["हिन्दी", "डेटाबेस"] },
  { said: "พรุ่งนี้ประชุมเรื่องฐานข้อมูลใหม่", by: ["ฐานข้อมูล", "ประชุม"] },
];

describe("lesson 73: words of every script are found", () => {
  test("two characters of Chinese, words within Japanese and Korean sentences, Cyrillic, Arabic, accents", async () => {
    const store = await conversations();
    const ids = new Map<string, string>();
    for (const { said } of GOLDEN) ids.set(said, await talk(store, [said]));
    await talk(store, ["Nothing of all this stands here: 你好, привет, hello."]);
    for (const { said, by } of GOLDEN)
      for (const words of by) {
        const [best] = await store.search({ words, limit: 3 });
        expect({ words, session: best?.session }).toEqual({ words, session: ids.get(said) });
        expect(best?.snippet.length).toBeGreaterThan(0);
      }
    expect(await store.search({ words: "北海", limit: 3 }), "only pairs that stand there").toEqual([]);
  });
});

describe("searching conversations", () => {
  test("all words before some words, close together before apart, newer before older", async () => {
    const store = await conversations();
    const some = await talk(store, ["the migration plan is late"]);
    const apart = await talk(store, [`database ${"filler words ".repeat(60)} migration`]);
    const old = await talk(store, ["database migration done"]);
    const recent = await talk(store, ["database migration done"]);
    const found = await store.search({ words: "database migration", limit: 10 });
    expect(found.map(({ session }) => session)).toEqual([recent, old, apart, some]);
  });

  test("a sentence finds what holds its rare words", async () => {
    const store = await conversations();
    const wanted = await talk(store, ["we chose zookeeper in the end"]);
    for (let index = 0; index < 30; index += 1)
      await talk(store, [`what did we do about the build ${index}`]);
    const [best] = await store.search({ words: "what did we decide about zookeeper?", limit: 3 });
    expect(best?.session).toBe(wanted);
  });

  test("what a person types is never an expression", async () => {
    const store = await conversations();
    const id = await talk(store, ["a NOT b AND c OR near(d) e* words: f"]);
    const typed = [
      '"',
      "NOT",
      "AND OR",
      "near(d",
      "e*",
      "words:",
      "a-b",
      "'; DROP TABLE messages; --",
      "(((",
      "*",
      "^a",
      "{x}",
    ];
    for (const words of typed) await store.search({ words, limit: 5 });
    expect((await store.search({ words: '"e*" -f', limit: 5 }))[0]?.session).toBe(id);
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), async (words) => {
        for (const found of await store.search({ words, limit: 5 })) expect(found.session).toBe(id);
      }),
      { numRuns: 100 },
    );
    expect(await store.search({ words: "  ", limit: 5 })).toEqual([]);
  });

  test("by role; without a conversation and its kin; with what was called", async () => {
    const store = await conversations();
    const parent = await talk(store, ["penguins swim"]);
    const child = await talk(store, ["penguins in the child"], { parent, source: "subagent" });
    const { id } = await store.create(ABOUT);
    await store.append(id, [
      says("penguins are birds", "system"),
      says("tell me of birds", "user"),
      {
        role: "assistant",
        content: "I look",
        toolCalls: [{ id: "1", name: "web_search", arguments: '{"query":"penguins eat"}' }],
      },
      { role: "tool", content: "penguins eat fish", toolCallId: "1" },
    ]);
    const sessions = async (query: { roles?: readonly ("user" | "assistant" | "tool")[]; except?: string }) =>
      new Set(
        (await store.search({ words: "penguins", limit: 10, ...query })).map(
          ({ session, role }) => `${session} ${role}`,
        ),
      );
    const [call] = await store.search({ words: "eat", roles: ["assistant"], limit: 1 });
    expect(call?.snippet).toContain("penguins eat");
    expect(await sessions({ roles: ["tool"] })).toEqual(new Set([`${id} tool`]));
    expect(await sessions({ roles: ["assistant"] })).toEqual(new Set([`${id} assistant`]));
    expect(await sessions({ except: child })).toEqual(new Set([`${id} assistant`, `${id} tool`]));
    expect(await sessions({ except: id })).toEqual(new Set([`${parent} user`, `${child} user`]));
  });

  test("a passage shows where the words stand, in one line, and does not cut characters", async () => {
    const store = await conversations();
    await talk(store, [`${"🦊 before\n".repeat(200)}the needle in it${" 🦊after".repeat(200)}`]);
    const [found] = await store.search({ words: "NEEDLE", limit: 1 });
    expect(found?.snippet).toContain("the needle in it");
    expect(found?.snippet).toMatch(/^….*…$/u);
    expect(found?.snippet).not.toMatch(/\n|\p{Surrogate}/u);
    expect(found?.snippet.length).toBeLessThan(260);
  });
});

describe("lesson 72: the index is a file of its own and can be made again", () => {
  test("deleted, damaged, cut short or of another database: it is made anew, and the messages are untouched", async () => {
    const folder = tempDir();
    const { sessionsIndex, sessionsDb } = filesIn(folder);
    const ids: string[] = [];
    const first = await conversations(folder);
    for (const word of ["alpha", "beta", "gamma"]) ids.push(await talk(first, [`${word} common`]));
    expect(await first.search({ words: "common", limit: 9 })).toHaveLength(3);
    await first.close();

    const spoil: Record<string, () => void> = {
      deleted: () => undefined,
      damaged: () => writeFileSync(sessionsIndex, "no database ".repeat(2_000)),
      emptied: () => writeFileSync(sessionsIndex, ""),
    };
    for (const [how, work] of Object.entries(spoil)) {
      for (const end of ["", "-wal", "-shm"]) rmSync(sessionsIndex + end, { force: true });
      work();
      const store = await conversations(folder);
      expect(store.notices, how).toEqual([]);
      expect(await store.search({ words: "common", limit: 9 }), how).toHaveLength(3);
      expect((await store.search({ words: "beta", limit: 9 })).map(({ session }) => session)).toEqual([
        ids[1],
      ]);
      expect(await store.check()).toEqual({ messages: [], index: [] });
      await store.close();
    }

    // The messages of another home, with the index of this one.
    const other = tempDir();
    const elsewhere = await conversations(other);
    const stranger = await talk(elsewhere, ["delta common"]);
    await elsewhere.close();
    for (const end of ["", "-wal", "-shm"]) rmSync(sessionsDb + end, { force: true });
    for (const end of ["", "-wal"]) copyFileSync(join(other, `sessions.db${end}`), sessionsDb + end);
    const moved = await conversations(folder);
    expect((await moved.search({ words: "common", limit: 9 })).map(({ session }) => session)).toEqual([
      stranger,
    ]);
  });

  test("an index deleted while it is open is made anew by the next search", async () => {
    const folder = tempDir();
    const store = await conversations(folder);
    const id = await talk(store, ["alpha"]);
    expect(await store.search({ words: "alpha", limit: 1 })).toHaveLength(1);
    for (const end of ["", "-wal", "-shm"]) rmSync(filesIn(folder).sessionsIndex + end, { force: true });
    await store.append(id, [says("beta")]);
    expect(await store.search({ words: "alpha", limit: 1 })).toHaveLength(1);
    expect(await store.search({ words: "beta", limit: 1 })).toHaveLength(1);
  });

  test("what two stores write is found by both, and what one deletes by neither", async () => {
    const folder = tempDir();
    const [one, two] = [await conversations(folder), await conversations(folder)];
    const ids = [await talk(one, ["shared one"]), await talk(two, ["shared two"])];
    for (const store of [one, two])
      expect(
        new Set((await store.search({ words: "shared", limit: 9 })).map(({ session }) => session)),
      ).toEqual(new Set(ids));
    await one.delete(ids[0] ?? "");
    await talk(one, ["shared three"]);
    for (const store of [one, two]) {
      const found = await store.search({ words: "shared", limit: 9 });
      expect(found.map(({ snippet }) => snippet).sort()).toEqual(["shared three", "shared two"]);
    }
    await two.index.rebuild();
    expect(await one.search({ words: "shared", limit: 9 })).toHaveLength(2);
  });
});
