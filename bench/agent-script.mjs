// What the scripted model of the agent loops says: a conversation of several messages; for each the model makes two
// calls, then one more, then answers in words. Every loop is given the same, in the shape its own models have.

export const MESSAGES = 10;
export const REQUESTS_PER_MESSAGE = 3;
/** How often the model is asked in one conversation: a turn is one request with the calls it leads to. */
export const TURNS = MESSAGES * REQUESTS_PER_MESSAGE;
export const CALLS = MESSAGES * 3;

export const SYSTEM =
  "You are a helpful agent with tools. Do what the person asks and say briefly what you found.";

/** What the person says. */
export function question(number) {
  return `Please echo the numbers of step ${number} one after the other and tell me what came back.`;
}

/** The answer to request `number` of a conversation: `{ calls }` or `{ words }`, the pieces of a text. */
export function answerTo(number) {
  const message = Math.floor(number / REQUESTS_PER_MESSAGE);
  const step = number % REQUESTS_PER_MESSAGE;
  if (step === 0) return { calls: [echoCall(number, 0), echoCall(number, 1)] };
  if (step === 1) return { calls: [echoCall(number, 0)] };
  return { words: ["All three ", "calls of step ", `${message} gave back `, "what they were given."] };
}

function echoCall(number, index) {
  return {
    id: `call_${number}_${index}`,
    name: "echo",
    arguments: JSON.stringify({ text: "hello world", times: number * 10 + index, loud: false }),
  };
}

/** Throws unless a conversation took its whole course: one that fails early would look very fast. */
export function assertCourse(subject, { requests, calls, last }) {
  const words = answerTo(TURNS - 1).words.join("");
  if (requests === TURNS && calls === CALLS && last === words) return;
  throw new Error(`${subject} took another course: ${JSON.stringify({ requests, calls, last })}`);
}

/** The handler of every loop, which counts. */
export function countingEcho() {
  const counted = { calls: 0 };
  const echo = async ({ text, times, loud }) => {
    counted.calls += 1;
    return { text, times, loud };
  };
  return { counted, echo };
}
