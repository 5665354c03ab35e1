import { HEARD_RATE } from "../ffmpeg.js";

/** A part of the sound in which somebody may speak. */
export interface Stretch {
  /** Seconds from the beginning. */
  readonly start: number;
  readonly end: number;
  readonly wave: Float32Array;
}

/** Loudness is looked at in steps of 20 ms. */
const STEP = HEARD_RATE / 50;
/** What is this much more quiet than the rest is a pause; below the second figure everything is. */
const QUIET_SHARE = 0.12;
const QUIET_ALWAYS = 0.002;
/** In steps: 0.36 s of quiet is a pause between sentences. */
const PAUSE_STEPS = 18;
/** In steps: no stretch is ended by a pause before 4 s, and none is longer than 20 s, which the model was made for. */
const SHORTEST = 200;
const LONGEST = 1_000;
const BYTES_PER_SAMPLE = 2;

/** Cuts 16 bit sound at pauses while it arrives, and leaves out what is silent throughout. */
export async function* stretchesOf(pcm: AsyncIterable<Uint8Array>): AsyncGenerator<Stretch> {
  let waiting: Buffer = Buffer.alloc(0);
  let passed = 0;
  const needed = LONGEST * STEP * BYTES_PER_SAMPLE;
  const take = (steps: number): Stretch | undefined => {
    const samples = Math.min(steps * STEP, Math.floor(waiting.length / BYTES_PER_SAMPLE));
    const wave = waveOf(waiting.subarray(0, samples * BYTES_PER_SAMPLE));
    waiting = waiting.subarray(samples * BYTES_PER_SAMPLE);
    const begin = passed;
    passed += samples;
    return trimmed(wave, begin);
  };
  for await (const piece of pcm) {
    waiting = Buffer.concat([waiting, piece]);
    while (waiting.length >= needed) {
      const stretch = take(cutAt(loudness(waveOf(waiting.subarray(0, needed)))));
      if (stretch !== undefined) yield stretch;
    }
  }
  while (waiting.length >= STEP * BYTES_PER_SAMPLE) {
    const stretch = take(cutAt(loudness(waveOf(waiting))));
    if (stretch !== undefined) yield stretch;
  }
}

function waveOf(pcm: Buffer): Float32Array {
  const wave = new Float32Array(Math.floor(pcm.length / BYTES_PER_SAMPLE));
  for (let at = 0; at < wave.length; at += 1) wave[at] = pcm.readInt16LE(at * BYTES_PER_SAMPLE) / 32_768;
  return wave;
}

function loudness(wave: Float32Array): readonly number[] {
  const steps: number[] = [];
  for (let from = 0; from < wave.length; from += STEP) {
    let sum = 0;
    const to = Math.min(from + STEP, wave.length);
    for (let at = from; at < to; at += 1) sum += (wave[at] ?? 0) ** 2;
    steps.push(Math.sqrt(sum / (to - from)));
  }
  return steps;
}

function quietBelow(steps: readonly number[]): number {
  const loudest = steps.reduce((most, step) => Math.max(most, step), 0);
  return Math.max(QUIET_ALWAYS, loudest * QUIET_SHARE);
}

/** How many steps the next stretch has: to the middle of the first pause, else to the most quiet place. */
function cutAt(steps: readonly number[]): number {
  const limit = quietBelow(steps);
  let quiet = 0;
  for (const [at, step] of steps.slice(0, LONGEST).entries()) {
    quiet = step < limit ? quiet + 1 : 0;
    if (quiet >= PAUSE_STEPS && at >= SHORTEST) return at - Math.floor(PAUSE_STEPS / 2);
  }
  if (steps.length <= LONGEST) return steps.length;
  let best = LONGEST;
  for (let at = LONGEST / 2; at < LONGEST; at += 1)
    if ((steps[at] ?? 1) < (steps[best] ?? Number.POSITIVE_INFINITY)) best = at;
  return best;
}

/** Without the silence around it; undefined when there is nothing else. */
function trimmed(wave: Float32Array, begin: number): Stretch | undefined {
  const steps = loudness(wave);
  const limit = quietBelow(steps);
  const first = steps.findIndex((step) => step >= limit);
  if (first < 0) return undefined;
  const last = steps.findLastIndex((step) => step >= limit);
  // Speech begins and ends softly, and the model wants to hear that.
  const from = Math.max(0, first - PAUSE_STEPS) * STEP;
  const to = Math.min(wave.length, (last + PAUSE_STEPS) * STEP);
  return {
    start: (begin + first * STEP) / HEARD_RATE,
    end: (begin + Math.min(wave.length, (last + 1) * STEP)) / HEARD_RATE,
    wave: wave.slice(from, to),
  };
}
