import { join } from "node:path";
import type { AgentEvent } from "../../agent/events.js";
import { visibleLines } from "../../base/visible-text.js";
import type { Output } from "../output.js";
import type { ChatAgent } from "./chat-agent.js";
import { TurnView } from "./turn-view.js";

const FRAME_MS = 120;

export interface TurnsPage {
  readonly out: Output;
  readonly home: string;
  columns(): number;
  print(rows: readonly string[]): void;
  /** Now, and soon: what comes in quick succession is drawn once. */
  draw(): void;
  drawSoon(): void;
  /** Puts texts back before the person, who may want them otherwise now. */
  giveBack(texts: readonly string[]): void;
  showError(error: unknown): void;
}

/**
 * The turns of a chat, and the three verbs for what is said while one runs: queue (sent when it is over), steer (heard
 * before the model is asked the next time), stop.
 */
export class ChatTurns {
  readonly #page: TurnsPage;
  readonly #chat: ChatAgent;
  #view: TurnView | undefined;
  #queue: string[] = [];
  #stopped = false;

  constructor(chat: ChatAgent, page: TurnsPage) {
    this.#chat = chat;
    this.#page = page;
  }

  get isWorking(): boolean {
    return this.#view !== undefined;
  }

  /** What is going on, and what waits. */
  live(): readonly string[] {
    const { color, ascii } = this.#page.out;
    const queued = this.#queue.map((text) => color.dim(`  ${ascii ? ">" : "⏳"} ${firstLine(text)}`));
    return [...(this.#view?.live() ?? []), ...queued];
  }

  /** Said now, or as soon as the turn is over. */
  send(text: string): void {
    if (this.isWorking) this.#queue.push(text);
    else {
      this.#page.print(saidRows(text, this.#page.out));
      this.#work(this.#chat.send(text));
    }
    this.#page.draw();
  }

  /** Heard before the model is asked the next time; where nothing runs, said now. */
  steer(text: string): void {
    if (this.isWorking && this.#chat.agent.steer(text))
      this.#page.print(saidRows(text, this.#page.out, "↪ "));
    else this.send(text);
  }

  /** Ends what runs; every call gets its answer. */
  stop(): void {
    this.#stopped = true;
    void this.#chat.agent.stop();
  }

  /** What was queued last, to be edited; undefined when nothing waits. */
  takeLastQueued(): string | undefined {
    return this.#queue.pop();
  }

  /** Goes on with a turn that waits, whatever it waited for. */
  async goOn(): Promise<void> {
    if ((await this.#chat.lastTurn()) !== "finished") this.#work(this.#chat.resume());
  }

  /** Goes on with a turn that was cut off; one that somebody stopped waits for a word. */
  async finishCutOff(): Promise<void> {
    const { color } = this.#page.out;
    const last = await this.#chat.lastTurn();
    if (last === "cut_off") {
      this.#page.print([color.dim("· This turn was cut off; it goes on.")]);
      this.#work(this.#chat.resume());
    } else if (last === "stopped")
      this.#page.print([color.dim("· This turn did not come to its end; say “go on”, and it does.")]);
  }

  #work(events: AsyncIterable<AgentEvent>): void {
    const { out, home } = this.#page;
    const view = new TurnView({
      out,
      columns: () => this.#page.columns(),
      emojiOf: (tool) => this.#chat.agent.session.view.entries.get(tool)?.emoji,
      pictures: join(home, "cache", "pictures"),
      print: (rows) => this.#page.print(rows),
      changed: () => this.#page.drawSoon(),
    });
    this.#view = view;
    this.#stopped = false;
    const frames = setInterval(() => {
      view.tick();
      this.#page.draw();
    }, FRAME_MS);
    void this.#follow(view, events).finally(() => {
      clearInterval(frames);
      this.#view = undefined;
      this.#goOn();
      this.#page.draw();
    });
  }

  async #follow(view: TurnView, events: AsyncIterable<AgentEvent>): Promise<void> {
    try {
      for await (const event of events) await view.take(event);
    } catch (error) {
      this.#page.showError(error);
    }
  }

  /** What waits is sent; after a stop it is given back instead. */
  #goOn(): void {
    const waiting = [...this.#chat.agent.takeUnheard(), ...this.#queue.splice(0)];
    if (this.#stopped) {
      this.#page.giveBack(waiting);
      return;
    }
    const [next, ...others] = waiting;
    if (next === undefined) return;
    this.#queue = others;
    this.send(next);
  }
}

/** What a person has said, as it stays on the screen. */
export function saidRows(text: string, { color, ascii }: Output, sign = "› "): readonly string[] {
  const mark = ascii ? "> " : sign;
  return visibleLines(text)
    .split("\n")
    .map((line, index) => color.bold(`${index === 0 ? mark : "  "}${line}`));
}

function firstLine(text: string): string {
  const [first = "", ...others] = visibleLines(text).split("\n");
  return others.length === 0 ? first : `${first} …`;
}
