import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLexicalIndex } from "../../../src/search/lexical/index.js";
import { fieldsOf } from "../../../src/search/lexical/tool-fields.js";
import type { SearchableTool } from "../../../src/search/types.js";
import { CATALOGUE } from "../fixtures/small-catalogue.js";

function tool(name: string, description = "", more: Partial<SearchableTool> = {}): SearchableTool {
  return { name, description, parameters: { type: "object", properties: {} }, ...more };
}

function namesFor(query: string, tools: readonly SearchableTool[], limit = 5): readonly string[] {
  return createLexicalIndex(tools)
    .search(query, { limit })
    .map((hit) => tools[hit.index]?.name ?? "");
}

it("what was said about one request stays when others are asked", () => {
  const index = createLexicalIndex(CATALOGUE);
  const request = "send a mail and then book a flight";
  const { scores, parts } = index.scores(request);
  const before = [scores, ...parts.map((part) => part.scores)].map((numbers) => [...numbers]);
  index.search("translate a page and delete files", { limit: 5 });
  index.scores("delete files");
  expect(parts).toHaveLength(2);
  expect([scores, ...parts.map((part) => part.scores)].map((numbers) => [...numbers])).toEqual(before);
  expect(index.scores(request).scores).toEqual(createLexicalIndex(CATALOGUE).scores(request).scores);
});

it("words that share their first letters or their length are not taken for each other", () => {
  const letters = Array.from({ length: 3_000 }, (_, at) =>
    String(at)
      .padStart(4, "0")
      .replace(/\d/g, (digit) => "bcdfghjklm".charAt(Number(digit))),
  );
  const tools = letters.map((word) => tool("x", `${word.toUpperCase()} thing`));
  const index = createLexicalIndex(tools);
  for (const [at, word] of letters.entries()) {
    if (at % 50 === 0) expect(index.search(word, { limit: 1 })[0]?.index).toBe(at);
  }
});

const OTHERS = [tool("zeta_alpha", "Paints a fence."), tool("eta_beta", "Feeds the fish.")];

describe("words", () => {
  it.each([
    ["weather report", "getWeatherReport"],
    ["weather report", "get_weather_report"],
    ["weather report", "get-weather-report"],
    ["weather report", "GETWeatherReport2"],
    ["git hub", "github_search"],
    ["github", "GitHubSearch"],
    ["youtube", "you_tube_search"],
    ["You Tube clips", "youtube_search"],
    ["csv from sql", "sql2csv"],
    ["log in", "user_login"],
    ["urls", "listURLs"],
  ])("%s finds %s", (query, name) => {
    expect(namesFor(query, [...OTHERS, tool(name)])[0]).toBe(name);
  });

  it("of one stem are the same", () => {
    for (const query of ["translate", "translation", "translating", "translator"]) {
      expect(namesFor(query, [...OTHERS, tool("x", "Translates letters.")])).toEqual(["x"]);
    }
  });

  it("that mean the same find each other, but the word itself comes first", () => {
    const tools = [...OTHERS, tool("a", "Fetches a photo."), tool("b", "Fetches a picture.")];
    expect(namesFor("picture", tools)).toEqual(["b", "a"]);
    expect(namesFor("image", tools)).toEqual(["a", "b"]);
  });

  it("of one subject find each other behind synonyms", () => {
    const tools = [
      tool("a", "Says how strong the wind is."),
      tool("b", "The forecast of a place."),
      ...OTHERS,
    ];
    expect(namesFor("weather", tools)).toEqual(["b", "a"]);
  });

  it("in names count more than in descriptions, and those more than in parameters", () => {
    const parameters = { type: "object", properties: { invoice: { type: "string" } } };
    const tools = [
      tool("c", "Sends something.", { parameters }),
      tool("b", "Sends an invoice."),
      tool("send_invoice", "Sends something."),
    ];
    expect(namesFor("invoice", tools)).toEqual(["send_invoice", "b", "c"]);
  });

  it("are found in parameter names, their texts, their values, the source and the tags", () => {
    const properties = {
      latitude: { type: "string", description: "degrees north" },
      mode: { enum: ["bicycle", "tram"] },
      deep: { type: "object", properties: { altitude: { type: "number" } } },
    };
    const full = tool("x", "Does it.", {
      parameters: { type: "object", properties },
      source: "mapserver",
      tags: ["hiking"],
    });
    for (const query of ["latitude", "north", "tram", "altitude", "mapserver", "hiking"]) {
      expect(namesFor(query, [...OTHERS, full]), query).toEqual(["x"]);
    }
  });

  it("with a slip of the finger are understood", () => {
    for (const query of ["wether", "waether", "weathr", "weatherr"]) {
      expect(namesFor(query, [...OTHERS, tool("x", "The weather of tomorrow.")]), query).toEqual(["x"]);
    }
  });

  it("with accents are found without them", () => {
    expect(namesFor("cafe", [...OTHERS, tool("x", "Finds a café.")])).toEqual(["x"]);
    expect(namesFor("Zürich", [...OTHERS, tool("x", "Trams of Zurich.")])).toEqual(["x"]);
  });

  it("of scripts without spaces are found inside longer text", () => {
    const tools = [
      ...OTHERS,
      tool("cn", "查询城市的天气预报"),
      tool("jp", "地図で場所を検索する"),
      tool("th", "ค้นหาร้านอาหาร"),
    ];
    expect(namesFor("明天的天气", tools)[0]).toBe("cn");
    expect(namesFor("検索", tools)[0]).toBe("jp");
    expect(namesFor("ร้านอาหารใกล้ฉัน", tools)[0]).toBe("th");
  });

  it("that stand side by side in the request and in the tool win over the same words apart", () => {
    const tools = [
      tool("a", "The credit of a person who lost a card."),
      tool("b", "Blocks a credit card of a person who lost it."),
    ];
    expect(namesFor("credit card", tools)[0]).toBe("b");
  });
});

describe("requests", () => {
  it("are not led astray by what people say around a wish", () => {
    const tools = [
      tool("assistant", "Can help you with things you would like to know; please ask for information."),
      tool("rates", "Exchange rates."),
    ];
    expect(namesFor("Hi! Could you please help me, I would like to know the exchange rates?", tools)[0]).toBe(
      "rates",
    );
  });

  it("with several wishes get a tool for each among the first", () => {
    const noise = Array.from({ length: 20 }, (_, number) =>
      tool(`invoice_${number}`, `Invoice of customer ${number}: list, search and change invoice rows.`),
    );
    const tools = [
      ...noise,
      tool("tram_times", "Departures of the tram."),
      tool("play_song", "Plays a song."),
    ];
    const found = namesFor(
      "Search the invoice rows of the customer and list them. Then play a song, and tell me when the tram leaves.",
      tools,
    );
    expect(found).toContain("tram_times");
    expect(found).toContain("play_song");
    expect(found.some((name) => name.startsWith("invoice_"))).toBe(true);
  });

  it("that are a tool's name put that tool first, however it is spelled", () => {
    const tools = [
      tool("issue_create_helper", "Create issue: helps to create an issue. Create issue, create issue."),
      tool("mcp_tracker_create_issue", "Opens a ticket."),
      tool("on", "Switch."),
    ];
    for (const query of ["mcp_tracker_create_issue", "mcp__tracker__create_issue", "mcpTrackerCreateIssue"]) {
      expect(namesFor(query, tools)[0]).toBe("mcp_tracker_create_issue");
    }
    expect(namesFor("on", tools)[0]).toBe("on");
  });

  it("no word of which is known are looked for inside names", () => {
    expect(namesFor("ccount", [...OTHERS, tool("myaccountsx")])).toEqual(["myaccountsx"]);
    expect(namesFor("who", [...OTHERS, tool("whois")])).toEqual(["whois"]);
    expect(namesFor("qqqq", OTHERS)).toEqual([]);
  });

  it("that every tool answers equally keep the order of the list", () => {
    const tools = Array.from({ length: 30 }, (_, number) =>
      tool(`github_${["red", "blue", "green"][number % 3]}`),
    );
    const hits = createLexicalIndex(tools).search("github", { limit: 30 });
    expect(hits.map(({ index }) => index)).toEqual(tools.map((_, index) => index));
  });

  it("give at most as many hits as asked for", () => {
    const index = createLexicalIndex(CATALOGUE);
    for (const limit of [0, 1, 3, 1_000]) {
      expect(index.search("the water of the garden", { limit }).length).toBeLessThanOrEqual(limit);
    }
    expect(index.search("water", { limit: -1 })).toEqual([]);
  });
});

describe("scores", () => {
  it("are those of the hits, for every tool", () => {
    const index = createLexicalIndex(CATALOGUE);
    const query = "buy a ferry ticket and check the tide";
    const { scores, parts } = index.scores(query);
    expect(scores).toHaveLength(CATALOGUE.length);
    expect(parts.map(({ text }) => text)).toEqual(["buy a ferry ticket", "check the tide"]);
    for (const hit of index.search(query, { limit: 10 })) expect(scores[hit.index]).toBeCloseTo(hit.score, 5);
  });
});

describe("whatever comes in", () => {
  const anyText = fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), fc.lorem());
  const anyTool = fc.record({
    name: anyText,
    description: anyText,
    parameters: fc.dictionary(fc.constantFrom("properties", "items", "enum", "anyOf"), fc.anything()),
    source: anyText,
    tags: fc.array(anyText, { maxLength: 3 }),
  });

  it("is answered with hits in falling order, each tool once, the same every time", () => {
    fc.assert(
      fc.property(
        fc.array(anyTool, { maxLength: 12 }),
        anyText,
        fc.nat({ max: 15 }),
        (tools, query, limit) => {
          const index = createLexicalIndex(tools);
          const hits = index.search(query, { limit });
          expect(hits.length).toBeLessThanOrEqual(Math.min(limit, tools.length));
          expect(new Set(hits.map((hit) => hit.index)).size).toBe(hits.length);
          for (const [place, hit] of hits.entries()) {
            expect(hit.score).toBeGreaterThan(0);
            expect(Number.isFinite(hit.score)).toBe(true);
            const before = hits[place - 1];
            if (before === undefined) continue;
            expect(before.score).toBeGreaterThanOrEqual(hit.score);
            if (before.score === hit.score) expect(before.index).toBeLessThan(hit.index);
          }
          expect(index.search(query, { limit })).toEqual(hits);
        },
      ),
      { numRuns: 300 },
    );
  });

  it("a schema that contains itself has an end", () => {
    const properties: Record<string, unknown> = { height: { type: "number" } };
    const parameters = { type: "object", properties };
    properties.again = parameters;
    expect(namesFor("height", [...OTHERS, tool("x", "", { parameters })])).toEqual(["x"]);
  });

  it("a schema of a hundred thousand parameters is not read to its end", () => {
    const properties = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`p${at}`, {}]));
    const fields = fieldsOf(tool("x", "", { parameters: { type: "object", properties } }));
    expect(fields.flat().length).toBeLessThan(1_000);
  });

  it("a very long request without a known word is not looked for word by word", () => {
    const tools = Array.from({ length: 3_000 }, (_, at) => tool(`${"zeta_".repeat(10)}${at}`));
    const request = Array.from({ length: 100_000 }, (_, at) =>
      String(at).replace(/\d/g, (digit) => "bcdfghjklm".charAt(Number(digit))),
    ).join(" ");
    expect(createLexicalIndex(tools).search(request, { limit: 5 })).toEqual([]);
  }, 4_000);

  it("a very long request takes no longer than a long one", () => {
    const index = createLexicalIndex(CATALOGUE);
    expect(index.search("ferry ticket, and then ".repeat(50_000), { limit: 5 })[0]?.index).toBe(
      CATALOGUE.findIndex(({ name }) => name === "ferry_buy_ticket"),
    );
  });
});
