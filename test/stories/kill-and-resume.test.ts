import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { hermes, linesOf, outcomeOf, start, tempFolder } from "../cli/hermes.js";
import { report } from "../faults/figures.js";
import type { Step } from "../support/scripted-model/scenario.js";
import { startScriptedModel } from "../support/scripted-model/server.js";

/** `npm run faults -- J4` tries a hundred moments. */
const MOMENTS = process.env.HERMES_FAULTS === "full" ? 100 : 6;
const EFFECTS = ["one", "two", "three"] as const;

/** A model whose next step follows from what it has said: asked again, it says the same again. */
const STORY: readonly Step[] = [
  { when: { anywhere: "STEP three." }, repeat: "always", text: "All done.", paceMs: 5 },
  step("three", { when: { anywhere: "STEP two." } }),
  step("two", { when: { anywhere: "STEP one." } }),
  step("one", {}),
];

function step(name: (typeof EFFECTS)[number], when: Pick<Step, "when">): Step {
  const command = `echo ${name} >> effects.txt; sleep 0.1`;
  const calls = [
    { id: `run-${name}`, name: "terminal", arguments: { command } },
    { id: `write-${name}`, name: "write_file", arguments: { path: `${name}.txt`, content: name } },
  ];
  return { ...when, repeat: "always", text: `STEP ${name}.`, calls, paceMs: 5 };
}

interface Message {
  readonly role: string;
  readonly content: string;
  readonly tool_call_id?: string | null;
  readonly tool_calls?: readonly { readonly id: string }[] | null;
}

interface Event {
  readonly type: string;
  readonly id?: string;
  readonly session?: string;
}

/** A story in a home of its own, cut off after so long; then resumed. */
async function story(url: string, killAfterMs: number | undefined) {
  const home = tempFolder();
  const cwd = tempFolder();
  const env = {
    HERMES_MODEL_PROVIDER: "compatible",
    HERMES_MODEL: "scripted",
    HERMES_MODEL_BASE_URL: url,
    HERMES_MODEL_API_KEY: "test-key",
  };
  const options = { home, cwd, env };
  const startedAt = performance.now();
  const child = start(["chat", "-q", "do all of it", "--jsonl"], options);
  child.stdin?.end();
  const ended = outcomeOf(child);
  if (killAfterMs !== undefined) {
    await Promise.race([ended, pause(killAfterMs)]);
    child.kill("SIGKILL");
  }
  const { stdout } = await ended;
  const took = performance.now() - startedAt;
  // The last line may be half a line.
  const told = linesOf(stdout.slice(0, stdout.lastIndexOf("\n") + 1)).map(
    (line) => JSON.parse(line) as Event,
  );
  const resumed = await hermes(["chat", "--resume", "last", "--json"], options);
  const session = told[0]?.session;
  const messages =
    session === undefined
      ? []
      : (
          JSON.parse((await hermes(["sessions", "show", session, "--json"], options)).stdout) as {
            messages: readonly Message[];
          }
        ).messages;
  const effects = join(cwd, "effects.txt");
  const done = existsSync(effects) ? linesOf(readFileSync(effects, "utf8")) : [];
  return { told, resumed, messages, done, took };
}

it(
  `kill -9 at ${MOMENTS} moments of a story, then resume: what was told is there, nothing is done twice, all is answered`,
  async () => {
    const server = await startScriptedModel({ steps: STORY });
    const whole = await story(server.url, undefined);
    expect(whole.done).toEqual([...EFFECTS]);
    const seen = { finished: 0, unknown: 0, tooEarly: 0 };
    for (let moment = 0; moment < MOMENTS; moment += 1) {
      // One in each part of the story, somewhere in it.
      const killAfterMs = ((moment + Math.random()) / MOMENTS) * whole.took;
      const { told, resumed, messages, done } = await story(server.url, killAfterMs);
      const where = `killed after ${Math.round(killAfterMs)} ms`;
      // Done again would be done twice: this model never repeats a call by itself.
      expect(new Set(done).size, where).toBe(done.length);
      if (told.length === 0) {
        // Nothing was acknowledged, so nothing may have begun.
        seen.tooEarly += 1;
        continue;
      }
      expect(resumed.code, where).toBe(0);
      expect(JSON.parse(resumed.stdout), where).toMatchObject({ stop: "end", text: "All done." });
      expect(messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
        "do all of it",
      ]);
      const answers = new Map(messages.map(({ tool_call_id, content }) => [tool_call_id, content]));
      for (const { type, id } of told)
        if (type === "tool_result") expect(answers.get(id), where).not.toContain('"unknown"');
      const calls = messages.flatMap(({ tool_calls }) => tool_calls ?? []);
      expect(calls.map(({ id }) => id)).toEqual(EFFECTS.flatMap((name) => [`run-${name}`, `write-${name}`]));
      for (const name of EFFECTS) {
        const answer = answers.get(`run-${name}`) ?? "";
        const isUnknown = answer.includes('"status":"unknown"');
        if (isUnknown) seen.unknown += 1;
        else expect(done, where).toContain(name);
      }
      seen.finished += 1;
    }
    expect(server.complaints).toEqual([]);
    expect(seen.finished).toBeGreaterThan(0);
    report({
      id: "J4",
      what: "kill -9 in the middle of a conversation's calls, then resume",
      trials: MOMENTS,
      seen: `0 calls run again; ${seen.finished} resumed, ${seen.unknown} outcomes told as unknown, ${seen.tooEarly} killed before anything was said`,
      goal: "told as unknown, 0 silent reruns",
      pass: seen.finished > 0,
    });
    await server.close();
  },
  MOMENTS * 20_000,
);
