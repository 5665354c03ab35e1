import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { type ScriptedModel, startScriptedModel } from "../support/scripted-model/server.js";
import type { Story, Told } from "./stories.js";

/** The wire formats every story is told in. */
export const FORMATS = ["openai", "anthropic"] as const;

export const scenarioFile = (name: string) => join(import.meta.dirname, "scenarios", `${name}.yaml`);

/** The scene: a server with the story's script, its files and its settings. `folder` is the test's own. */
export async function scene(
  { scenario, files = {}, settings = "" }: Story,
  folder: string,
): Promise<{ readonly server: ScriptedModel; readonly cwd: string; readonly home: string }> {
  const [cwd, home] = [join(folder, "work"), join(folder, "home")];
  for (const path of [cwd, home]) mkdirSync(path, { recursive: true });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), content);
  }
  if (settings !== "") writeFileSync(join(home, "config.yaml"), settings.replaceAll("{cwd}", cwd));
  return { server: await startScriptedModel({ file: scenarioFile(scenario) }), cwd, home };
}

/** What holds in every story: no request was one that a real server refuses, and the model was asked all it was to be. */
export function checkStory(story: Story, told: Told): void {
  const { server } = told;
  expect(server.complaints).toEqual([]);
  expect(server.unused).toEqual([]);
  story.check(told);
}
