import { afterAll, beforeAll, expect } from "vitest";
import { type CallResult, defineTool, ERROR_CODES, textOf } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";

export const SECRET = "q7Zp-attack-secret-0aF93kLm2";

/** An environment that holds one secret; everything else a child needs is there. */
export function secretEnv(home: string): Record<string, string | undefined> {
  return { PATH: process.env.PATH, HOME: home, ATTACK_API_KEY: SECRET };
}

/** A tool that takes anything as `x`. */
export function tool(name: string, handler: AnyTool["handler"], extra: Partial<AnyTool> = {}): AnyTool {
  const parameters = { type: "object", properties: { x: {} } } as const;
  return { ...defineTool({ name, description: name, parameters, handler }), ...extra } as AnyTool;
}

/** A result that every door can carry: the right types, a closed code, text that is text, JSON all through. */
export function expectWellFormed(result: CallResult): void {
  expect(typeof result.id).toBe("string");
  expect(typeof result.name).toBe("string");
  expect(typeof result.called_as).toBe("string");
  expect(typeof result.ok).toBe("boolean");
  expect(result.ok).toBe(result.error === undefined);
  expect(result.duration_ms).toBeGreaterThanOrEqual(0);
  for (const part of result.content) {
    expect(["text", "image", "audio", "resource"]).toContain(part.type);
    if (part.type === "text") expect(typeof part.text).toBe("string");
  }
  if (result.error !== undefined) {
    expect(ERROR_CODES).toContain(result.error.code);
    expect(typeof JSON.parse(textOf(result.content)).error).toBe("string");
  }
  expect(() => JSON.stringify(result)).not.toThrow();
}

/** Fails the file when anything in it left a rejection unheard: in production that ends the process. */
export function expectNoUnheardRejections(): void {
  const unheard: unknown[] = [];
  const listen = (reason: unknown) => void unheard.push(reason);
  beforeAll(() => void process.on("unhandledRejection", listen));
  afterAll(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.removeListener("unhandledRejection", listen);
    expect(unheard).toEqual([]);
  });
}

/** The longest time the event loop was held while `work` ran. */
export async function longestBlockOf(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last - 2);
    last = now;
  }, 2);
  try {
    await work();
  } finally {
    longest = Math.max(longest, performance.now() - last);
    clearInterval(timer);
  }
  return longest;
}

/** Answers in time, or the word "hangs". */
export async function within<T>(ms: number, work: Promise<T>): Promise<T | "hangs"> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"hangs">((resolve) => {
    timer = setTimeout(() => resolve("hangs"), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
