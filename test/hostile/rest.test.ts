import { describe, it } from "vitest";
import { play } from "./play.js";
import { REST } from "./table.js";

describe("a model that obeys everybody", () => {
  it.each(REST)("%s", (_, row) => play(row));
});
