import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { searchable } from "../../../src/search/catalogue.js";
import { HybridFinder } from "../../../src/search/finder.js";
import { looksForeign } from "../../../src/search/foreign/to-english.js";
import { createLexicalIndex } from "../../../src/search/lexical/index.js";
import { createEmbedder } from "../../../src/search/semantic/embedder.js";
import { findModel } from "../../../src/search/semantic/model-files.js";
import { VectorCache } from "../../../src/search/semantic/vector-cache.js";
import { openTokenTable, TokenTable } from "../../../src/search/table/token-table.js";
import { toolTexts } from "../../../src/search/tool-texts.js";
import type { Embedder, SearchableTool } from "../../../src/search/types.js";
import { testRuntime } from "../../support/runtime.js";
import { FOREIGN_REQUESTS } from "../fixtures/foreign-requests.js";

const home = mkdtempSync(join(tmpdir(), "hermes-finder-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const tool = (name: string, description: string): SearchableTool => ({
  name,
  description,
  parameters: { type: "object" },
});
const tools = [
  tool("mcp_mail_send", "Send an electronic letter to a recipient."),
  tool("mcp_sky_forecast", "Meteorological conditions expected in the coming days."),
  tool("mcp_git_merge", "Join two branches of a repository."),
  tool("mcp_cook_recipe", "Instructions and ingredients for preparing a dish."),
];

async function firstFor(finder: HybridFinder, query: string): Promise<string | undefined> {
  const [hit] = await finder.search(query, { limit: 1 });
  return hit && tools[hit.index]?.name;
}

const model = findModel({ home });
const because = model === undefined ? " (the model is missing: run `npx hermes setup search`)" : "";

describe.skipIf(model === undefined)(`with the model${because}`, () => {
  it("finds by meaning what no word gives away, and takes vectors from the cache next time", async () => {
    if (model === undefined) return;
    const embedder = createEmbedder(model);
    let texts = 0;
    const counting: Embedder = {
      id: embedder.id,
      dimensions: embedder.dimensions,
      embed: (list) => {
        texts += list.length;
        return embedder.embed(list);
      },
      embedRequest: (wishes) => embedder.embedRequest(wishes),
      close: () => embedder.close(),
    };
    try {
      const path = join(home, "vectors.bin");
      const open = () =>
        new HybridFinder({
          tools,
          lexical: createLexicalIndex(tools),
          embedder: counting,
          cache: new VectorCache({ path, model: embedder.id, dimensions: embedder.dimensions }),
        });
      const finder = open();
      expect(finder.judges).toEqual(["words"]);
      await finder.prepared;
      expect(finder.judges).toEqual(["words", "table", "model"]);
      expect(await firstFor(finder, "will it rain tomorrow")).toBe("mcp_sky_forecast");
      expect(await firstFor(finder, "what can I eat tonight")).toBe("mcp_cook_recipe");
      const both = await finder.search("Will it rain tomorrow? Then tell me what I can eat tonight.", {
        limit: 2,
      });
      expect(both.map(({ index }) => tools[index]?.name).sort()).toEqual([
        "mcp_cook_recipe",
        "mcp_sky_forecast",
      ]);
      texts = 0;
      await open().prepared;
      expect(texts).toBe(0);
    } finally {
      await embedder.close();
    }
  });

  it("answers two at once, and an order after closing with an error", async () => {
    if (model === undefined) return;
    const embedder = createEmbedder(model);
    const [one, many] = await Promise.all([
      embedder.embed(["a letter"]),
      embedder.embedInBackground(Array.from({ length: 40 }, (_, at) => `text ${at}`)),
    ]);
    const length = Math.hypot(...(one[0] ?? []));
    expect(length).toBeCloseTo(1, 4);
    expect(many).toHaveLength(40);
    await embedder.close();
    await expect(embedder.embed(["x"])).rejects.toThrow("closed");
  });
});

/** Every text lies where the test puts it: on the first axis, or on the one after it. */
function fakeEmbedder(isNear: (text: string) => boolean, answers = true): Embedder {
  const vectorOf = (text: string) => Float32Array.from(isNear(text) ? [1, 0] : [0, 1]);
  return {
    id: "fake",
    dimensions: 2,
    embed: async (texts) => texts.map(vectorOf),
    embedRequest: (wishes) =>
      answers ? Promise.resolve(wishes.map(() => vectorOf(""))) : new Promise(() => undefined),
    close: async () => undefined,
  };
}

describe("with any model", () => {
  it("a tool's own name puts it first, whatever lies nearer by meaning", async () => {
    const many = [
      ...Array.from({ length: 40 }, (_, at) => tool(`count_sheep_${at}`, "Counts sheep.")),
      tool("mail_send", "Posts a letter."),
      tool("send_mail_quickly", "Send mail, then send more mail."),
    ];
    const embedder = fakeEmbedder((text) => !text.startsWith("send mail quickly"));
    const finder = new HybridFinder({
      tools: many,
      lexical: createLexicalIndex(many),
      embedder: { ...embedder, embedRequest: async () => [Float32Array.from([0, 1])] },
    });
    await finder.prepared;
    for (const query of ["mail_send", "mailSend"]) {
      const [hit] = await finder.search(query, { limit: 1 });
      expect(hit && many[hit.index]?.name).toBe("mail_send");
    }
  });

  it("one that does not answer is given up", async () => {
    const finder = new HybridFinder({
      tools,
      lexical: createLexicalIndex(tools),
      embedder: fakeEmbedder(() => true, false),
      patienceMs: 20,
    });
    await finder.prepared;
    expect(await firstFor(finder, "merge the branches")).toBe("mcp_git_merge");
    expect(finder.judges).toEqual(["words", "table"]);
    expect(finder.problem).toContain("no answer within 0.02 s");
  });

  it("one that cannot be started fails every order, not only the first", async () => {
    const notText = 1n as unknown as string;
    const embedder = createEmbedder({ runtime: notText, model: "none", vocabulary: "none" });
    for (const text of ["one", "two"]) await expect(embedder.embed([text])).rejects.toThrow("BigInt");
    await embedder.close();
  });
});

describe("without the model", () => {
  it("words and table decide, from the first search on, and say how", async () => {
    const finder = new HybridFinder({ tools, lexical: createLexicalIndex(tools) });
    expect(await firstFor(finder, "will it rain tomorrow")).toBe("mcp_sky_forecast");
    expect(finder.judges).toEqual(["words", "table"]);
    const [hit] = await finder.search("an e-mail for Ann", { limit: 1 });
    expect(hit && tools[hit.index]?.name).toBe("mcp_mail_send");
    expect(hit?.marks).toEqual({ words: expect.any(Number), table: expect.any(Number) });
    expect(hit?.marks?.table).toBeGreaterThan(1);
  });

  it("without the table, too, words decide alone", async () => {
    const finder = new HybridFinder({ tools, lexical: createLexicalIndex(tools), table: false });
    await finder.prepared;
    expect(await firstFor(finder, "merge the branches")).toBe("mcp_git_merge");
    expect(finder.judges).toEqual(["words"]);
  });

  it("thousands of tools are read with pauses, and nobody waits long for them", async () => {
    const many = Array.from({ length: 4_000 }, (_, at) =>
      tool(
        `server_${at % 50}_action_${at}`,
        `Does the thing number ${at} to what it is given, ${at * 7} times over.`,
      ),
    );
    const lexical = createLexicalIndex(many);
    await openTokenTable();
    let turns = 0;
    let ended = false;
    const count = () => {
      turns += 1;
      if (!ended) setImmediate(count);
    };
    setImmediate(count);
    const finder = new HybridFinder({ tools: many, lexical });
    await finder.prepared;
    ended = true;
    expect(finder.judges).toEqual(["words", "table"]);
    expect(turns).toBeGreaterThan(3);
  });

  it("a model that fails is given up, and the reason is kept", async () => {
    const broken = createEmbedder({ runtime: join(home, "no.node"), model: "none", vocabulary: "none" });
    const finder = new HybridFinder({ tools, lexical: createLexicalIndex(tools), embedder: broken });
    await finder.prepared;
    expect(await firstFor(finder, "merge the branches")).toBe("mcp_git_merge");
    expect(finder.problem).toMatch(/process ended/);
    await broken.close();
  });
});

describe("the texts of tools", () => {
  it("drop what all tools share, mark-up and code, but never everything", async () => {
    const shared = "Needs a token.";
    const texts = await toolTexts([
      tool("mcp_a_listThings", `**Lists** things. ${shared}\n\`\`\`json\n{"x":1}\n\`\`\``),
      tool("mcp_b_b_makeOne", `Makes one. ${shared}`),
      tool("mcp_c", shared),
    ]);
    expect(texts).toEqual([
      ["a list Things:", "Lists things.", ""],
      ["b make One:", "Makes one.", ""],
      ["c:", shared, ""],
    ]);
  });

  it("have the parameters in words, and always three parts", async () => {
    const [text] = await toolTexts([
      {
        name: "post",
        description: "Posts a message.",
        parameters: {
          type: "object",
          properties: { channelId: { type: "string", description: "Where to" }, text: {} },
        },
      },
    ]);
    expect(text).toEqual(["post:", "Posts a message.", "channel Id: Where to. text"]);
  });
});

describe("the table of word vectors", () => {
  it("gives the vectors its makers gave", async () => {
    const table = await openTokenTable();
    const [vector] = table.requestVectors(["find a tool to read csv files"]);
    expect([...(vector ?? [])].slice(0, 4).map((value) => value.toFixed(5))).toEqual([
      "-0.17623",
      "-0.12940",
      "-0.22755",
      "0.25117",
    ]);
    expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 4);
    expect(Math.hypot(...table.toolVector(["read csv:", "Reads a file of rows.", "path"]))).toBeCloseTo(1, 4);
  });

  it("has a zero vector for nothing at all, and several for several wishes", async () => {
    const table = await openTokenTable();
    expect(Math.hypot(...(table.requestVectors([""])[0] ?? []))).toBe(0);
    expect(table.requestVectors(["read a file", "send it to Ann"])).toHaveLength(3);
  });

  it("refuses what is no such file, or a part of one", () => {
    expect(() => new TokenTable(new Uint8Array(64))).toThrow("is not one");
    const cut = new Uint8Array(64);
    cut.set(new TextEncoder().encode("HTV1"));
    expect(() => new TokenTable(cut)).toThrow();
  });
});

describe("requests in other languages", () => {
  const asked = FOREIGN_REQUESTS.map(([name]) => name);
  const open = async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const entries = (await runtime.listTools()).flatMap(({ name }) => runtime.registry.get(name) ?? []);
    const all = entries.map(searchable);
    return { all, finder: new HybridFinder({ tools: all, lexical: createLexicalIndex(all) }) };
  };

  it.each([
    ["German", 1],
    ["Spanish", 2],
    ["Chinese", 3],
  ] as const)("in %s find nine of ten tools among the first five", async (_language, at) => {
    const { all, finder } = await open();
    let found = 0;
    for (const row of FOREIGN_REQUESTS) {
      const hits = await finder.search(row[at], { limit: 5 });
      if (hits.some(({ index }) => all[index]?.name === row[0])) found += 1;
    }
    expect(found).toBeGreaterThanOrEqual(0.9 * asked.length);
  });

  it("leave English ones as they are", () => {
    for (const request of ["list the files in a folder", "die roller", "play a game", "kubectl get pods"])
      expect(looksForeign(request)).toBe(false);
  });
});
