// @needs git chromium
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findSpeechModel } from "../../src/weights/speech-models.js";
import { hermesJson, root, tempFolder } from "./hermes.js";

interface Listed {
  readonly name: string;
  readonly available: boolean;
  readonly fix?: string;
  readonly provenance: { readonly kind: string };
}

/** What every Linux has, and the two that the README names. No Python, no Docker, no ffmpeg, no speech. */
const PROGRAMS =
  "sh bash ls cat cp mv rm mkdir env grep sed awk find sort head tail tar gzip ps uname id git chromium".split(
    " ",
  );
const SENTENCE = /after `npm start`, (\d+) of the (\d+) are ready without a key/;

/** A machine with little on it, as far as a search on PATH can tell. */
function plainPath(): string {
  const folder = join(tempFolder(), "bin");
  mkdirSync(folder);
  for (const program of PROGRAMS) {
    const found = spawnSync("sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).stdout.trim();
    if (found.startsWith("/")) symlinkSync(realpathSync(found), join(folder, program));
  }
  return folder;
}

describe("tools that are ready on a plain machine with Chromium and git", () => {
  it("are as many as the README says, and each other one says how to get it (UPDATE_DOCS=1 rewrites it)", async () => {
    const listed = await hermesJson<{ tools: readonly Listed[] } | readonly Listed[]>(["tools", "list"], {
      env: { PATH: plainPath() },
    });
    const tools = (Array.isArray(listed) ? listed : (listed as { tools: readonly Listed[] }).tools).filter(
      ({ provenance }: Listed) => provenance.kind !== "mcp",
    ) as readonly Listed[];
    // The models of `hermes setup speech` may lie beside this checkout; a fresh clone has none.
    const brought = findSpeechModel("kokoro", { home: "/nonexistent" }) !== undefined;
    const ready = tools.filter(({ available, name }) => available && !(brought && name === "text_to_speech"));
    const others = tools.filter(({ available }) => !available);
    for (const { name, fix } of others) expect([name, fix]).toEqual([name, expect.stringMatching(/\S/)]);
    const file = join(root, "README.md");
    const readme = readFileSync(file, "utf8");
    const fresh = readme.replace(
      SENTENCE,
      `after \`npm start\`, ${ready.length} of the ${tools.length} are ready without a key`,
    );
    if (process.env.UPDATE_DOCS === "1") writeFileSync(file, fresh);
    expect(readme).toMatch(SENTENCE);
    expect(readFileSync(file, "utf8")).toBe(fresh);
  });
});
