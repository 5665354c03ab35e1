import fc from "fast-check";
import { expect, it } from "vitest";
import { LruMap } from "../../src/base/lru.js";

it("forgets what was neither set nor asked for the longest", () => {
  const map = new LruMap<string, number>(2);
  map.set("a", 1).set("b", 2);
  expect(map.get("a")).toBe(1);
  expect(map.peek("b")).toBe(2);
  map.set("c", 3);
  expect([...map.keys()]).toEqual(["a", "c"]);
  map.set("a", 4).set("d", 5);
  expect([...map]).toEqual([
    ["a", 4],
    ["d", 5],
  ]);
});

it("holds the last distinct keys that were used, whatever happens", () => {
  const step = fc.tuple(
    fc.constantFrom("get", "set", "delete", "drop", "clear"),
    fc.integer({ min: 0, max: 9 }),
  );
  fc.assert(
    fc.property(fc.array(step), fc.integer({ min: 1, max: 6 }), (steps, max) => {
      const map = new LruMap<number, string>(max);
      let model: number[] = [];
      for (const [action, key] of steps) {
        if (action === "clear") {
          map.clear();
          model = [];
        } else if (action === "delete") {
          expect(map.delete(key)).toBe(model.includes(key));
          model = model.filter((other) => other !== key);
        } else if (action === "drop") {
          expect(map.dropOldest()).toBe(model[0]?.toString());
          model = model.slice(1);
        } else if (action === "get" && !model.includes(key)) expect(map.get(key)).toBeUndefined();
        else {
          if (action === "set") map.set(key, `${key}`);
          else expect(map.get(key)).toBe(`${key}`);
          model = [...model.filter((other) => other !== key), key].slice(-max);
        }
        expect([...map.keys()]).toEqual(model);
      }
    }),
  );
});
