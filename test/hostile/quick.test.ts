import { describe, it } from "vitest";
import { play } from "./play.js";
import { QUICK } from "./table.js";

describe("a model that obeys everybody", () => {
  it.each(QUICK)("%s", (_, row) => play(row));
});
