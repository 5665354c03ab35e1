import { BaseTool, ToolResult } from "hermes-tools";

const parameters = {
  type: "object",
  properties: { key: { type: "string" }, value: { type: "string" } },
  required: ["key"],
} as const;

/** Holds something open between calls: here a map, in real life a connection pool. */
export class Notes extends BaseTool<typeof parameters> {
  readonly name = "notes";
  readonly description = "Remember a short note under a key; without a value, read it";
  readonly parameters = parameters;
  #notes: Map<string, string> | undefined;

  override setup() {
    this.#notes = new Map();
  }

  run({ key, value }: { key: string; value?: string }) {
    if (value !== undefined) this.#notes?.set(key, value);
    const note = this.#notes?.get(key);
    return note === undefined
      ? new ToolResult({ success: false, error: `no note under ${key}`, hint: "give a value to write one" })
      : new ToolResult({ success: true, output: { key, note } });
  }

  override teardown() {
    this.#notes?.clear();
  }
}
