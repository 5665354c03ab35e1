import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { report } from "./figures.js";
import { fillHome, type Look, lookAt, NOTES, STATE_FILES } from "./state-home.js";
import { FULL, faultHome } from "./support.js";

const TRIALS = Number(process.env.HERMES_FAULTS_TRIALS ?? (FULL ? 200 : STATE_FILES.length));
const SEED = Number(process.env.HERMES_FAULTS_SEED ?? 20_261_118);

/** What rules are made of: never gone without a word. */
const RULES = ["mode", "denied", "allowed", "blocked", "hosts", "disabled", "permissions", "trusted"];

interface Damage {
  readonly file: (typeof STATE_FILES)[number];
  readonly how: "flip" | "cut";
  readonly at: number;
  readonly bit: number;
}

test(`${TRIALS} flipped bits and cut tails in state files: told, the rest usable, no rule silently gone`, async () => {
  const { home, remove } = faultHome();
  onTestFinished(remove);
  const place = join(home, "home");
  // In use, databases have logs; at rest everything is in the databases themselves.
  const [inUse, atRest] = [join(home, "in-use"), join(home, "at-rest")];
  await fillHome(place, () => cpSync(place, inUse, { recursive: true }));
  cpSync(place, atRest, { recursive: true });
  const look = async (sound: string, damage?: Damage): Promise<Look> => {
    rmSync(place, { recursive: true, force: true });
    cpSync(sound, place, { recursive: true });
    if (damage !== undefined) apply(damage, place);
    return lookAt(place);
  };
  const unharmed = new Map<string, Look>();
  for (const sound of [inUse, atRest]) {
    const found = await look(sound);
    expect(found).toMatchObject({ works: true, told: [] });
    unharmed.set(sound, found);
  }
  const random = randomNumbers(SEED);
  const seen = { told: 0, harmless: 0, edits: 0 };
  const wrong: string[] = [];
  for (let trial = 0; trial < TRIALS; trial += 1) {
    const file = STATE_FILES[trial % STATE_FILES.length] ?? STATE_FILES[0];
    const sound = file.endsWith("-wal") ? inUse : atRest;
    const before = unharmed.get(sound) as Look;
    expect(existsSync(join(sound, file)), file).toBe(true);
    const bytes = readFileSync(join(sound, file)).length;
    const how = Math.floor(trial / STATE_FILES.length) % 2 === 0 ? "flip" : "cut";
    const damage: Damage = { file, how, at: random(bytes), bit: random(8) };
    const where = `${file}: ${how === "flip" ? `bit ${damage.bit} of byte` : "cut at"} ${damage.at} of ${bytes}`;
    const after = await look(sound, damage);
    if (!after.works) wrong.push(`${where}: nothing works any more: ${after.told.join("; ")}`);
    const changed = Object.keys(before.facts).filter((name) => !same(before.facts[name], after.facts[name]));
    const told = after.told.length > 0;
    if (changed.length === 0) seen.harmless += 1;
    else if (told) seen.told += 1;
    else if (NOTES.has(file)) seen.edits += 1;
    else
      wrong.push(
        `${where}: ${changed.map((name) => `${name}: ${diff(before.facts[name], after.facts[name])}`).join("; ")} without a word`,
      );
    for (const name of RULES)
      if (!told && sizeOf(after.facts[name]) < sizeOf(before.facts[name]))
        wrong.push(`${where}: ${name} has become shorter`);
  }
  if (wrong.length > 0) console.error(wrong.join("\n"));
  report({
    id: "J3",
    what: `one flipped bit or a cut tail in each of ${STATE_FILES.length} state files`,
    trials: TRIALS,
    seen: `${wrong.length} unnoticed or in the way of the rest; ${seen.told} told, ${seen.harmless} without an effect, ${seen.edits} read as an edit of notes, keys or a tool file, which people write`,
    goal: "0: each told, the rest usable, no rule silently gone",
    pass: wrong.length === 0,
  });
}, 900_000);

function apply({ file, how, at, bit }: Damage, home: string): void {
  const path = join(home, file);
  const bytes = readFileSync(path);
  // The index of a log may be gone, as after a restart of the machine.
  if (bit % 2 === 0 && path.endsWith("-wal")) rmSync(path.replace(/-wal$/, "-shm"), { force: true });
  if (how === "cut") writeFileSync(path, bytes.subarray(0, at));
  else {
    bytes[at] = (bytes[at] ?? 0) ^ (1 << bit);
    writeFileSync(path, bytes);
  }
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** How many single values it holds. */
function sizeOf(value: unknown): number {
  if (value === undefined || value === "") return 0;
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce((sum: number, each) => sum + sizeOf(each), 0);
}

function diff(before: unknown, after: unknown): string {
  const [one = "", other = ""] = [before, after].map((value) => JSON.stringify(value));
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return `${one.slice(Math.max(0, at - 20), at + 30)} → ${other.slice(Math.max(0, at - 20), at + 30)}`;
}

function randomNumbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
