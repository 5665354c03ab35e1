import fc from "fast-check";
import { expect, it } from "vitest";
import { splitRequest } from "../../../src/search/lexical/index.js";
import { splitWords } from "../../../src/search/lexical/split-words.js";

function split(text: string): { words: readonly string[]; joined: readonly string[] } {
  const words: string[] = [];
  const joined: string[] = [];
  splitWords(text, { word: (word) => words.push(word), joined: (word) => joined.push(word) });
  return { words, joined };
}

it.each([
  ["getHTTPStatus", ["get", "http", "status"], ["gethttpstatus"]],
  ["sql2csv", ["sql", "2", "csv"], ["sql2csv"]],
  ["create_pull-request.now", ["create", "pull", "request", "now"], []],
  ["GitHub", ["git", "hub"], ["github"]],
  ["URLs and IDs", ["urls", "and", "ids"], []],
  ["the user's name, don't", ["the", "user", "name", "dont"], []],
  ["'quoted' words, 'some', the users' own", ["quoted", "words", "some", "the", "users", "own"], []],
  ["rock 'n' roll 's end", ["rock", "n", "roll", "end"], []],
  ["GitHub's API isn’t Ann''s", ["git", "hub", "api", "isnt", "ann"], ["github"]],
  ["ann''sø", ["annø"], []],
  ["plain words first, dann größere", ["plain", "words", "first", "dann", "großere"], []],
  ["v2 API", ["v", "2", "api"], ["v2"]],
  ["Café Zürich", ["cafe", "zurich"], []],
  ["天气预报", ["天气", "气预", "预报"], []],
  ["图 GitHub用户", ["图", "git", "hub", "用户"], ["github"]],
  ["Привет мир", ["привет", "мир"], []],
  ["👍 --- !", [], []],
])("%s is cut into %j", (text, words, joined) => {
  expect(split(text)).toEqual({ words, joined });
});

it("loses no letter of English words, whatever their spelling", () => {
  const identifier = fc.string({ unit: fc.constantFrom(..."abXYZ19_- ."), maxLength: 30 });
  fc.assert(
    fc.property(identifier, (text) => {
      expect(split(text).words.join("")).toBe(text.replace(/[^A-Za-z0-9]/g, "").toLowerCase());
    }),
  );
});

it.each([
  ["Find a hotel in Rome.", ["Find a hotel in Rome"]],
  [
    "Find a hotel. Then book a flight, and send me the bill",
    ["Find a hotel", "book a flight", "send me the bill"],
  ],
  ["compare price and quality", ["compare price and quality"]],
  ["area for 3.5 and 4.25 metres", ["area for 3 5 and 4 25 metres"]],
  ["open https://example.org/a.b?c then mail it to a.b@example.org", ["open  url", "mail it to  email"]],
  ["查天气。然后订酒店", ["查天气", "然后订酒店"]],
  ["", []],
  ["?!", []],
])("the wishes of %j are %j", (request, wishes) => {
  expect(splitRequest(request)).toEqual(wishes);
});
