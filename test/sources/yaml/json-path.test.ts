import { describe, expect, test } from "vitest";
import { parseCondition, parseJsonPath } from "../../../src/toolfile/json-path.js";
import { holds, select, selectAll, TooManyValues } from "../../../src/toolfile/json-select.js";

const STORE = {
  store: {
    book: [
      { title: "A", price: 8.95, tags: ["x"], isbn: "1" },
      { title: "B", price: 12.99, tags: [] },
      { title: "C", price: 8.99, isbn: "2", "odd name": true },
    ],
    bicycle: { price: 399, colour: "red" },
  },
  limit: 10,
};

function find(text: string, root: unknown = STORE): readonly unknown[] {
  const parsed = parseJsonPath(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return selectAll(parsed.value, root);
}

describe("a JSON path", () => {
  test.each([
    ["$", [STORE]],
    ["$.store.bicycle.colour", ["red"]],
    ["$['store'][\"bicycle\"]['colour']", ["red"]],
    ["$.store.book[*].title", ["A", "B", "C"]],
    ["$.store.book[0,2].title", ["A", "C"]],
    ["$.store.book[-1].title", ["C"]],
    ["$.store.book[1:].title", ["B", "C"]],
    ["$.store.book[:-1].title", ["A", "B"]],
    ["$.store.book[::2].title", ["A", "C"]],
    ["$.store.book[::-1].title", ["C", "B", "A"]],
    ["$.store.book[5].title", []],
    ["$..price", [8.95, 12.99, 8.99, 399]],
    ["$..book[?@.isbn].title", ["A", "C"]],
    ["$..book[?!@.isbn].title", ["B"]],
    ["$.store.book[?@.price < $.limit].title", ["A", "C"]],
    ["$.store.book[?(@.price > 10 || @.title == 'A') && @.title != \"B\"].title", ["A"]],
    ["$.store.book[?@['odd name'] == true].title", ["C"]],
    ["$.store.book[?@.missing == null].title", []],
    ["$.store.book[?@.tags == @.tags].title", ["A", "B", "C"]],
    ["$.nowhere.at.all", []],
    ["$.store.*.colour", ["red"]],
    ["$['\\u0073tore'].bicycle.price", [399]],
  ])("%s", (path, expected) => {
    expect(find(path)).toEqual(expected);
  });

  test("that can only mean one value gives that value, another one a list", () => {
    const one = parseJsonPath("$.store.book[0].price");
    const many = parseJsonPath("$.store.book[0:1].price");
    expect(one.ok && select(one.value, STORE)).toBe(8.95);
    expect(many.ok && select(many.value, STORE)).toEqual([8.95]);
    expect(one.ok && select(one.value, {})).toBeUndefined();
  });

  test.each([
    ["store", '"$" must stand here'],
    ["$.", "a name must follow"],
    ["$.a[", "must stand here"],
    ["$.a['x]", "does not end"],
    ["$.a]", "does not belong here"],
    ["$[?length(@.a) > 1]", "functions are not supported"],
    ["$[?@..a == 1]", "only single values can be compared"],
    ["$[?'a']", "no condition"],
    [`$${"[?(".repeat(30)}`, "must stand here"],
    [`$${".a".repeat(600)}`, "longer than"],
  ])("%s is refused with a reason", (path, reason) => {
    expect(parseJsonPath(path)).toMatchObject({ ok: false, message: expect.stringContaining(reason) });
  });

  test("does not look at own properties that are none, and never looks for ever", () => {
    expect(find("$.__proto__")).toEqual([]);
    expect(find("$.constructor", {})).toEqual([]);
    const wide = Array.from({ length: 2_000 }, () => Array.from({ length: 10 }, () => 1));
    expect(() => find("$..*..*..*..*", [wide, [wide], [[wide]], [[[wide]]]])).toThrow(TooManyValues);
  });
});

test("a condition stands on its own too", () => {
  const parsed = parseCondition("$.limit >= 10 && !($.store.bicycle.price == 1)");
  expect(parsed.ok && holds(parsed.value, STORE)).toBe(true);
});
