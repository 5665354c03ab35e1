import type { AgentEvent, AgentResult } from "../../agent/events.js";
import { cutToWidth } from "../../base/cell-width.js";
import { visible, visibleLines } from "../../base/visible-text.js";
import type { Content } from "../../tool/content.js";
import type { Output } from "../output.js";
import { MarkdownStream } from "./markdown.js";
import { keepPicture, pictureProtocol, pictureSequence } from "./pictures.js";
import { wrapLines } from "./rows.js";
import { argumentPreview, resultRows, toolLine } from "./tool-line.js";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** What is shown of a line or a table that is still being written: its end. */
const MOST_PENDING_ROWS = 8;
const MOST_RUNNING_ROWS = 6;
const THOUGHT_CHARS = 60;

interface Running {
  readonly name: string;
  readonly preview: string;
  readonly startedAt: number;
  note?: string | undefined;
}

export interface TurnPage {
  readonly out: Output;
  columns(): number;
  emojiOf(tool: string): string | undefined;
  /** Where pictures are kept that the terminal cannot show. */
  readonly pictures: string;
  /** Rows that are finished. */
  print(rows: readonly string[]): void;
  /** What is going on has changed. */
  changed(): void;
}

/** A turn as it is shown: what is finished is printed at once, the rest are a few live rows. */
export class TurnView {
  readonly #page: TurnPage;
  readonly #markdown: MarkdownStream;
  readonly #running = new Map<string, Running>();
  readonly #startedAt = performance.now();
  #doing = "thinking";
  #thought = "";
  #frame = 0;
  /** Whether the last thing printed was text: blocks of different kinds stand apart. */
  #last: "text" | "tool" | "none" = "none";

  constructor(page: TurnPage) {
    this.#page = page;
    this.#markdown = new MarkdownStream(page.out, () => page.columns());
  }

  /** The next picture of what moves while it works. */
  tick(): void {
    this.#frame += 1;
  }

  async take(event: AgentEvent): Promise<void> {
    const { out } = this.#page;
    switch (event.type) {
      case "text":
        this.#doing = "answering";
        this.#thought = "";
        this.#print("text", this.#markdown.feed(event.delta));
        break;
      case "reasoning":
        this.#doing = "thinking";
        this.#thought = (this.#thought + event.delta).slice(-400);
        break;
      case "tool_begun":
        this.#endText();
        this.#doing = `writing ${visible(event.name)}`;
        break;
      case "tool_use":
        this.#endText();
        this.#running.set(event.id, {
          name: event.name,
          preview: argumentPreview(event.arguments),
          startedAt: performance.now(),
        });
        break;
      case "tool_progress": {
        const call = this.#running.get(event.id);
        if (call !== undefined) call.note = event.message;
        break;
      }
      case "tool_result":
        await this.#showResult(event);
        break;
      case "notice":
        this.#endText();
        this.#print("tool", this.#remark(out.color.dim("· "), event.message, out.color.dim));
        break;
      case "error":
        this.#endText();
        this.#print("tool", [
          ...this.#remark(`${out.mark("error")} `, event.message, out.color.red),
          ...(event.hint === undefined ? [] : this.#remark("  ", event.hint, out.color.dim)),
        ]);
        break;
      case "result":
        this.#end(event);
        break;
      default:
    }
    this.#page.changed();
  }

  /** What is going on, in few rows. */
  live(): readonly string[] {
    const { out } = this.#page;
    const columns = this.#page.columns();
    const sign = out.color.cyan(out.ascii ? "*" : (FRAMES[this.#frame % FRAMES.length] ?? ""));
    const calls = [...this.#running.values()];
    const running = calls.slice(0, MOST_RUNNING_ROWS).map((call) =>
      toolLine(
        {
          ...call,
          sign,
          emoji: out.emoji(this.#page.emojiOf(call.name)),
          ms: performance.now() - call.startedAt,
        },
        { out, columns },
      ),
    );
    const more = calls.length - running.length;
    if (more > 0) running.push(out.color.dim(`  and ${more} more calls`));
    const doing = `${this.#doing}${this.#thought === "" ? "" : `: ${lastWords(this.#thought)}`}`;
    const status = toolLine(
      { sign, emoji: "", name: doing, preview: "", ms: performance.now() - this.#startedAt },
      { out, columns },
    );
    const pending = this.#markdown.pending().slice(-MOST_PENDING_ROWS);
    return [...pending, ...(calls.length > 0 ? running : [cutToWidth(status, columns - 1)])];
  }

  async #showResult(event: Extract<AgentEvent, { type: "tool_result" }>): Promise<void> {
    const { out } = this.#page;
    const call = this.#running.get(event.id);
    this.#running.delete(event.id);
    this.#doing = "thinking";
    this.#thought = "";
    const line = toolLine(
      {
        sign: out.mark(event.ok ? "ok" : "error"),
        emoji: out.emoji(this.#page.emojiOf(event.name)),
        name: event.name,
        preview: call?.preview ?? "",
        ms: event.duration_ms,
      },
      { out, columns: this.#page.columns() },
    );
    const pictures = await Promise.all(event.content.map((part) => this.#picture(part)));
    const below = resultRows(event, { out, columns: this.#page.columns() });
    this.#print("tool", [line, ...below, ...pictures.flat()]);
  }

  #remark(mark: string, text: string, paint: (row: string) => string): readonly string[] {
    return wrapLines(visibleLines(text), { mark, width: this.#page.columns() - 1, paint });
  }

  async #picture(part: Content): Promise<readonly string[]> {
    if (part.type !== "image") return [];
    const sequence = pictureSequence(part, pictureProtocol());
    if (sequence !== undefined) return [sequence];
    const path = await keepPicture(part, this.#page.pictures);
    return [`  ${this.#page.out.color.dim(`picture: ${path}`)}`];
  }

  #endText(): void {
    this.#print("text", this.#markdown.end());
  }

  #end({ stop }: AgentResult): void {
    const { out } = this.#page;
    this.#endText();
    this.#running.clear();
    const why = STOPPED[stop];
    if (why !== undefined) this.#print("tool", [`${out.mark("warning")} ${out.color.yellow(why)}`]);
    this.#page.print([""]);
  }

  #print(kind: "text" | "tool", rows: readonly string[]): void {
    if (rows.length === 0) return;
    const apart = this.#last !== "none" && this.#last !== kind;
    this.#last = kind;
    this.#page.print(apart ? ["", ...rows] : rows);
  }
}

const STOPPED: Readonly<Partial<Record<AgentResult["stop"], string>>> = {
  interrupted: "stopped",
  max_turns: "The model was asked as often as it may be in one turn. Say “go on” to continue.",
  budget: "The budget is used up; the work waits.",
};

function lastWords(text: string): string {
  const words = text.replace(/\s+/g, " ").trim();
  return words.length <= THOUGHT_CHARS ? words : `…${words.slice(-THOUGHT_CHARS).replace(/^\S*/, "")}`;
}
