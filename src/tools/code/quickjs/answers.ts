import { isRecord } from "../../../base/record.js";
import { createLexicalIndex } from "../../../search/lexical/index.js";
import type { LexicalIndex } from "../../../search/types.js";
import type { CallResult } from "../../../tool/call.js";
import { textOf } from "../../../tool/content.js";
import { type Failure, failure } from "../../../tool/errors.js";
import { clip } from "../../../tool/preview.js";
import type { SchemaObject } from "../../../tool/schema-walk.js";
import { describeSignature } from "../../../tool/signature.js";
import { describeThrown } from "../../../tool/thrown.js";
import type { NestedTool, NestedTools } from "../../../tool/tool.js";
import { declarationsOf } from "../../../tool/typescript-declarations.js";

/** A question of the sandbox, as far as it could be read. */
type Question =
  | { readonly kind: "call"; readonly name: string; readonly given: unknown }
  | { readonly kind: "search"; readonly query: string; readonly limit: unknown }
  | { readonly kind: "describe"; readonly name: string };

/** Reads what the sandbox wrote. A script can write anything, so nothing about it is taken for granted. */
export function readRequest(message: string): {
  readonly id: number;
  readonly question: Question | undefined;
} {
  const blank = message.indexOf(" ");
  const id = Number(message.slice(1, blank));
  try {
    const asked: unknown = JSON.parse(message.slice(blank));
    return { id, question: isRecord(asked) ? questionOf(message.charAt(0), asked) : undefined };
  } catch {
    return { id, question: undefined };
  }
}

function questionOf(kind: string, { name, given }: SchemaObject): Question | undefined {
  if (kind === "c") return typeof name === "string" ? { kind: "call", name, given } : undefined;
  if (!isRecord(given)) return undefined;
  const { query, limit, name: about } = given;
  if (kind === "s" && typeof query === "string") return { kind: "search", query, limit };
  if (kind === "d" && typeof about === "string") return { kind: "describe", name: about };
  return undefined;
}

/** Answers what one script asks: `true` and a value or `false` and an error, in JSON. */
export class Answers {
  readonly #tools: NestedTools;
  readonly #catalogue: Catalogue;
  /** Of one result, written as JSON. */
  readonly #maxChars: number;
  readonly #reply: (text: string) => void;
  readonly #calls = new AbortController();
  #toolCalls = 0;
  #open = 0;
  #whenIdle: (() => void) | undefined;

  constructor(parts: {
    readonly tools: NestedTools;
    readonly maxChars: number;
    readonly reply: (text: string) => void;
  }) {
    this.#tools = parts.tools;
    this.#catalogue = new Catalogue(parts.tools.tools);
    this.#maxChars = parts.maxChars;
    this.#reply = parts.reply;
  }

  get toolCalls(): number {
    return this.#toolCalls;
  }

  take(message: string): void {
    const { id, question } = readRequest(message);
    if (question?.kind !== "call") {
      this.#reply(`[${id},${this.#told(question)}]`);
      return;
    }
    this.#toolCalls += 1;
    this.#open += 1;
    const { name, given } = question;
    this.#tools.call({ name, arguments: given }, { signal: this.#calls.signal }).then(
      (result) => this.#settle(id, ofResult(result, this.#maxChars)),
      (error) => this.#settle(id, no(failure("internal", describeThrown(error).message))),
    );
  }

  /** Cancels the calls that are under way; over when they are, for one may still have a process to end. */
  async end(): Promise<void> {
    this.#calls.abort(new Error("the script has ended"));
    if (this.#open === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve;
    });
  }

  #settle(id: number, answer: string): void {
    this.#reply(`[${id},${answer}]`);
    this.#open -= 1;
    if (this.#open === 0) this.#whenIdle?.();
  }

  #told(question: Exclude<Question, { kind: "call" }> | undefined): string {
    if (question === undefined) return no(failure("bad_request", "This request cannot be read"));
    if (question.kind === "search") {
      return yes(this.#catalogue.search(question.query, question.limit), this.#maxChars);
    }
    const declaration = this.#catalogue.describe(question.name);
    if (declaration !== undefined) return yes(declaration, this.#maxChars);
    const hint = "searchTools(words) finds tools by what they do.";
    return no(failure("not_found", `Unknown tool: ${question.name}`, hint));
  }
}

function ofResult(result: CallResult, maxChars: number): string {
  if (!result.ok) return no(result.error ?? failure("failed", textOf(result.content)));
  return yes(result.structured ?? textOf(result.content), maxChars);
}

function yes(value: unknown, maxChars: number): string {
  const text = asJson(value);
  if (text === undefined) return no(failure("bad_result", "The result cannot be written as JSON"));
  if (text.length <= maxChars) return `true,${text}`;
  return no(
    failure(
      "bad_result",
      `The result has ${text.length} characters, more than the script's memory of ${maxChars} bytes can hold`,
      "Ask for less: a page, a range, a filter.",
    ),
  );
}

function asJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function no({ code, message, hint }: Failure): string {
  return `false,${JSON.stringify({ code, message, hint })}`;
}

const DEFAULT_FOUND = 10;
const MAX_FOUND = 50;
const SHORT_DESCRIPTION = 160;

interface FoundTool {
  readonly name: string;
  readonly description: string;
  readonly signature: string;
}

/** What a script can ask about the tools it may call. The index is made on the first search. */
class Catalogue {
  readonly #tools: readonly NestedTool[];
  #index: LexicalIndex | undefined;

  constructor(tools: readonly NestedTool[]) {
    this.#tools = tools;
  }

  /** Tools that fit the query, best first. */
  search(query: string, limit: unknown): readonly FoundTool[] {
    this.#index ??= createLexicalIndex(this.#tools);
    return this.#index.search(query, { limit: wholeNumber(limit) }).flatMap(({ index }) => {
      const tool = this.#tools[index];
      return tool === undefined ? [] : [brief(tool)];
    });
  }

  /** The declaration of one tool, with its whole description; undefined when there is none of this name. */
  describe(name: string): string | undefined {
    const tool = this.#tools.find((candidate) => candidate.name === name);
    return tool && declarationsOf([tool], { maxDescriptionChars: 4_000 });
  }
}

function brief({ name, description, parameters }: NestedTool): FoundTool {
  const [firstLine = ""] = description.trim().split("\n");
  return {
    name,
    description: clip(firstLine, SHORT_DESCRIPTION),
    signature: describeSignature(name, parameters),
  };
}

function wholeNumber(limit: unknown): number {
  const given = typeof limit === "number" && Number.isFinite(limit) ? Math.floor(limit) : DEFAULT_FOUND;
  return Math.min(Math.max(1, given), MAX_FOUND);
}
