// The one trivial tool every subject offers: three validated fields in, the same three out.

export const echoSchema = {
  type: "object",
  properties: {
    text: { type: "string", minLength: 1 },
    times: { type: "integer", minimum: 0 },
    loud: { type: "boolean" },
  },
  required: ["text", "times", "loud"],
  additionalProperties: false,
};

export const echoDescription = "Gives back what it was given.";

export async function echo({ text, times, loud }) {
  return { text, times, loud };
}

/** Arguments of one call. The number differs from call to call, so that nothing can answer from memory. */
export function echoArguments(number) {
  return { text: "hello world", times: number, loud: false };
}

/** The same schema for peers that want zod; the caller brings its own zod. */
export function echoZodSchema(z) {
  return z.object({ text: z.string().min(1), times: z.number().int().min(0), loud: z.boolean() });
}

/** Names of `count` tools; the first is the one that gets called. */
export function toolNames(count) {
  return ["echo", ...Array.from({ length: count - 1 }, (_, index) => `tool_${index + 1}`)];
}

/** Throws unless a subject really echoed: a benchmark of error messages would look very fast. */
export function assertEchoed(subject, answer) {
  const { text, times, loud } = answer ?? {};
  if (text === "hello world" && times === 7 && loud === false) return;
  throw new Error(`${subject} did not echo its arguments but gave ${JSON.stringify(answer)}`);
}
