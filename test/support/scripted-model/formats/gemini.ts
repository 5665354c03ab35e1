import type { AskedMessage } from "../scenario.js";
import {
  type Answer,
  argumentsObject,
  event,
  type Format,
  list,
  message,
  pieces,
  record,
  string,
} from "./format.js";

/** Gemini generateContent. Calls have no ids: results are matched by their order. */
export const gemini: Format = {
  matches(path) {
    const found = /\/models\/([^/:]+):(streamGenerateContent|generateContent)/.exec(path);
    if (found === null) return undefined;
    return { model: decodeURIComponent(found[1] ?? ""), stream: found[2] === "streamGenerateContent" };
  },

  read: (body) => ({
    tools: list(body.tools)
      .flatMap((tool) => list(record(tool).functionDeclarations))
      .map((one) => string(record(one).name)),
    messages: [...systemOf(body.systemInstruction), ...list(body.contents).flatMap(readContent)],
    prompt: [body.tools ?? [], body.systemInstruction ?? "", ...list(body.contents)].map((one) =>
      JSON.stringify(one),
    ),
  }),

  *stream(answer) {
    for (const text of pieces(answer.reasoning)) yield chunk(answer, [{ text, thought: true }]);
    for (const text of pieces(answer.text)) yield chunk(answer, [{ text }]);
    for (const part of callParts(answer)) yield chunk(answer, [part]);
  },

  end: (answer) => event(body(answer, [{ text: "" }], true)),
  whole: (answer) => {
    const said = answer.text === "" ? [] : [{ text: answer.text }];
    return body(answer, [...said, ...callParts(answer)], true);
  },
  error: (status, text) => ({ error: { code: status, message: text, status: "FAILED" } }),
  streamedError: (text) => event({ error: { code: 503, message: text, status: "UNAVAILABLE" } }),

  refuses(sent, known) {
    const contents = list(sent.contents).map(record);
    for (const [at, { role, parts }] of contents.entries()) {
      const calls = list(parts)
        .map(record)
        .filter((part) => part.functionCall !== undefined);
      if (calls.length === 0) continue;
      const signature = string(calls[0]?.thoughtSignature);
      if (signature !== "" && signature !== "skip_thought_signature_validator" && !known.has(signature))
        return "Thought signature is not valid";
      const answers = list(contents[at + 1]?.parts).filter(
        (part) => record(part).functionResponse !== undefined,
      );
      if (role !== "model" || answers.length !== calls.length)
        return "the number of function response parts must equal the number of function call parts";
    }
    return undefined;
  },
};

function systemOf(instruction: unknown): AskedMessage[] {
  const text = textOf(record(instruction).parts);
  return text === "" ? [] : [message("system", text)];
}

function textOf(parts: unknown): string {
  return list(parts)
    .map((part) => string(record(part).text))
    .join("");
}

function readContent(content: unknown): AskedMessage[] {
  const { role, parts } = record(content);
  const all = list(parts).map(record);
  if (role === "model") {
    const calls = all.flatMap(({ functionCall }) =>
      functionCall === undefined ? [] : [{ id: "", name: string(record(functionCall).name) }],
    );
    return [message("assistant", textOf(parts), { calls })];
  }
  const results = all.flatMap(({ functionResponse }) =>
    functionResponse === undefined
      ? []
      : [message("tool", JSON.stringify(record(functionResponse).response), { answers: "" })],
  );
  const text = textOf(parts);
  const images = all.filter(({ inlineData }) => inlineData !== undefined).length;
  return text === "" && images === 0 ? results : [...results, message("user", text, { images })];
}

/** Calls come whole or not at all. */
function callParts({ calls, signature, reasoning, finish }: Answer) {
  const whole = finish === "length" ? calls.slice(0, -1) : calls;
  return whole.map(({ name, arguments: given }, at) => ({
    functionCall: { name, args: argumentsObject(given) },
    ...(at === 0 && reasoning !== "" && { thoughtSignature: signature }),
  }));
}

function chunk(answer: Answer, parts: readonly unknown[]): string {
  return event(body(answer, parts, false));
}

function body({ model, finish, bill }: Answer, parts: readonly unknown[], isLast: boolean) {
  const finishReason = { stop: "STOP", tool_calls: "STOP", length: "MAX_TOKENS", refusal: "SAFETY" }[finish];
  return {
    candidates: [{ content: { role: "model", parts }, index: 0, ...(isLast && { finishReason }) }],
    modelVersion: model,
    ...(isLast && {
      usageMetadata: {
        promptTokenCount: bill.inputTokens,
        cachedContentTokenCount: bill.cachedTokens,
        candidatesTokenCount: bill.outputTokens,
        totalTokenCount: bill.inputTokens + bill.outputTokens,
      },
    }),
  };
}
