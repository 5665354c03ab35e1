import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { findSpeechModel, packagesOf, SPEECH_MODELS } from "../../src/weights/speech-models.js";
import { hermes, json, tempFolder } from "./hermes.js";

interface Report {
  readonly ok: boolean;
  readonly items: readonly { readonly what: string; readonly state: string; readonly fix: string | null }[];
}

const brought = SPEECH_MODELS.every(({ name }) => findSpeechModel(name, { home: "/nonexistent" }));

describe("hermes setup speech, without a network", () => {
  it("what it does not know is a usage error (2)", async () => {
    for (const args of [["extra"], ["--bogus"]]) {
      const { code, stdout, stderr } = await hermes(["setup", "speech", ...args]);
      expect([args, code, stdout]).toEqual([args, 2, ""]);
      expect(stderr).toContain("error:");
    }
  });

  it("--check where nothing is there: 4, with the command that brings it", async ({ skip }) => {
    if (brought) skip("[ci-cannot] the models lie beside this checkout; without them this is tried");
    const outcome = await hermes(["setup", "speech", "--check", "--json"], { home: tempFolder() });
    expect(outcome.code).toBe(4);
    const { ok, items } = json<Report>(outcome);
    expect(ok).toBe(false);
    for (const { name } of SPEECH_MODELS)
      expect(items.find(({ what }) => what.startsWith(name))).toMatchObject({
        state: "missing",
        fix: "hermes setup speech",
      });
  });

  it("--check finds files that have the right length and not the right content: 4, damaged", async () => {
    const home = tempFolder();
    for (const { files } of SPEECH_MODELS.flatMap((model) => packagesOf(model) ?? []))
      for (const { to, bytes } of files) {
        const path = join(home, "models", to);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, "");
        // A hole: as long as the real one, without taking its room.
        truncateSync(path, bytes);
      }
    const outcome = await hermes(["setup", "speech", "--check"], { home });
    expect(outcome.code).toBe(4);
    expect(outcome.stdout).toMatch(/moonshine.*failed.*damaged: .*encoder_model\.onnx/);
    expect(outcome.stdout).toMatch(/kokoro.*failed.*damaged/);
  }, 30_000);

  it("where the registry does not answer: 4, says so and keeps nothing", async ({ skip }) => {
    if (brought) skip("[ci-cannot] the models lie beside this checkout; without them this is tried");
    const { code, stdout, stderr } = await hermes(["setup", "speech"], {
      home: tempFolder(),
      env: { npm_config_registry: "http://127.0.0.1:9/", npm_config_fetch_retries: "0" },
    });
    expect([code, stdout]).toEqual([4, ""]);
    expect(stderr).toMatch(/127\.0\.0\.1:9|registry/);
  }, 60_000);

  it("--check where all is there: 0", async ({ skip }) => {
    if (!brought)
      skip("[ci-cannot] the models are not here; with them (`hermes setup speech`) this is tried");
    const outcome = await hermes(["setup", "speech", "--check", "--json"], { home: tempFolder() });
    const { items } = json<Report>(outcome);
    const states = items.filter(({ what }) => !what.startsWith("ffmpeg")).map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(["present"]));
    expect(outcome.code).toBe(items.every(({ state }) => state === "present") ? 0 : 4);
  }, 60_000);
});
