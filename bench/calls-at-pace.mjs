// A server that works while it is watched: calls at an even pace, whatever they take.
import { post } from "./serve.mjs";

export const CALL = { name: "sleep", arguments: { seconds: 0 } };
const CALLS_A_SECOND = 200;
const TICK_MS = 50;

/** Answers with how many were made. */
export async function callsAtPace(server, seconds) {
  const calls = [];
  const begun = performance.now();
  const total = CALLS_A_SECOND * seconds;
  while (calls.length < total) {
    const due = Math.min(total, Math.ceil(((performance.now() - begun) / 1_000) * CALLS_A_SECOND));
    while (calls.length < due) calls.push(post({ server, session: `s${calls.length % 16}`, call: CALL }));
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
  await Promise.all(calls);
  return total;
}
