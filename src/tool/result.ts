import type { Content } from "./content.js";
import { carries } from "./errors.js";

const toolResultMark = Symbol.for("hermes-tools.ToolResult");

/**
 * What a handler may return when a plain value is not enough: an explicit success flag, content parts, or
 * an error that is not an exception.
 *
 * ```ts
 * return new ToolResult({ success: true, output: { rows } });
 * return new ToolResult({ success: false, error: "connection refused", hint: "is the server running?" });
 * ```
 */
export class ToolResult<Output = unknown> {
  readonly [toolResultMark] = true;
  readonly success: boolean;
  readonly output: Output | undefined;
  readonly error: string | undefined;
  readonly hint: string | undefined;
  readonly content: readonly Content[] | undefined;

  constructor(fields: {
    success: boolean;
    output?: Output;
    error?: string | undefined;
    hint?: string | undefined;
    content?: readonly Content[];
  }) {
    this.success = fields.success;
    this.output = fields.output;
    this.error = fields.error;
    this.hint = fields.hint;
    this.content = fields.content;
  }

  static isInstance(value: unknown): value is ToolResult {
    return carries(value, toolResultMark);
  }
}
