import { it } from "vitest";
import { builtinManifest } from "../../src/registry/builtin-manifest.gen.js";
import { needs } from "../support/needs.js";
import { examplesOf, runExample } from "./run-example.js";

const tools = await Promise.all(builtinManifest.map(async ({ load }) => (await load()).default));

it.for(examplesOf(tools, (example) => example.programs !== undefined))(
  "$name: $title",
  { timeout: 60_000 },
  async (example, { skip }) => {
    needs({ skip }, ...(example.example.programs ?? []));
    await runExample(example);
  },
);
