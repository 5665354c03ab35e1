import { expect, it } from "vitest";
import { placesIn } from "../../src/base/stack.js";

const STACK = `Error: no file /plugins/bad/other.mjs:9
    at spin (file:///plugins/bad/lib/spin.mjs?hermes=0&v=abc-1:9:54)
    at /plugins/bad/index.mjs:20:3
    at Timeout._onTimeout (file:///plugins/worse/index.mjs:11:18)
    at listOnTimeout (node:internal/timers:581:17)`;

it("names where code of a folder stands in a stack, and not what the message speaks of", () => {
  expect(placesIn("/plugins/bad", STACK)).toEqual(["lib/spin.mjs:9", "index.mjs:20"]);
  expect(placesIn("/plugins/worse", STACK)).toEqual(["index.mjs:11"]);
  expect(placesIn("/plugins/worst", STACK)).toEqual([]);
});
