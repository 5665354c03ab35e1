import { join } from "node:path";
import type { AgentEvent } from "../../agent/events.js";
import type { SqliteConversationStore } from "../../agent/sessions/conversation-store.js";
import { visibleLines, visibleWithColours } from "../../base/visible-text.js";
import type { Runtime } from "../../runtime/runtime.js";
import type { CallContext } from "../../tool/tool.js";
import type { Output } from "../output.js";
import type { ChatAgent } from "./chat-agent.js";
import { runSlashCommand } from "./commands.js";
import type { InputHistory } from "./history.js";
import { InputLine } from "./input-line.js";
import { type Key, KeyReader } from "./keys.js";
import { Questions } from "./questions.js";
import { ChatScreen } from "./screen.js";
import { ChatTerminal } from "./terminal.js";
import { TurnView } from "./turn-view.js";
import { welcomeRows } from "./welcome.js";

const FRAME_MS = 120;
const REDRAW_MS = 16;
/** A sequence that comes in two pieces comes within this; otherwise it was the Escape key. */
const ESCAPE_MS = 50;
const AGAIN_MS = 2_000;

export interface AppParts {
  readonly out: Output;
  readonly home: string;
  readonly runtime: Runtime;
  readonly store: SqliteConversationStore;
}

/** The chat as a person has it before them: what is shown, what is typed, what runs. */
export class ChatApp {
  readonly parts: AppParts;
  readonly #terminal: ChatTerminal;
  readonly #screen: ChatScreen;
  readonly #keys = new KeyReader();
  readonly #questions = new Questions();
  #line: InputLine | undefined;
  #chat: ChatAgent | undefined;
  #view: TurnView | undefined;
  /** Sent one after the other when the turn is over. */
  #queue: string[] = [];
  #stopped = false;
  #hint = "";
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #redraw: NodeJS.Timeout | undefined;
  #escape: NodeJS.Timeout | undefined;
  #leave: () => void = () => {};

  constructor(parts: AppParts) {
    this.parts = parts;
    this.#terminal = new ChatTerminal({
      typed: (text) => this.#typed(text),
      resized: () => this.#screen.resized(),
      resumed: () => this.#screen.comeBack(),
      remarked: (lines) => this.print(lines.map((line) => visibleWithColours(line))),
    });
    this.#screen = new ChatScreen(this.#terminal);
  }

  get chat(): ChatAgent {
    if (this.#chat === undefined) throw new Error("the chat has not begun");
    return this.#chat;
  }

  get isWorking(): boolean {
    return this.#view !== undefined;
  }

  get columns(): number {
    return this.#terminal.columns;
  }

  /** Until the person leaves. */
  async run({ chat, history }: { chat: ChatAgent; history: InputHistory }): Promise<void> {
    this.#chat = chat;
    this.#line = new InputLine({ out: this.parts.out, history, cwd: () => chat.agent.session.cwd });
    const left = new Promise<void>((resolve) => {
      this.#leave = resolve;
    });
    this.#terminal.open();
    try {
      this.print(await welcomeRows(this));
      this.draw();
      await this.finishTurn();
      await left;
    } finally {
      clearTimeout(this.#redraw);
      clearTimeout(this.#escape);
      this.#questions.giveUp();
      this.#screen.leave();
      this.#terminal.close();
    }
  }

  /** Goes on with a turn that was cut off; does nothing where none was. */
  async finishTurn(): Promise<void> {
    if (!(await this.chat.agent.isFinished())) this.#work(this.chat.resume());
  }

  quit(): void {
    this.#leave();
  }

  print(rows: readonly string[]): void {
    this.#screen.print(rows);
  }

  /** A remark for the person. */
  note(message: string): void {
    this.print([this.parts.out.color.dim(`· ${visibleLines(message)}`)]);
  }

  /** The terminal is somebody else's meanwhile. */
  async away<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#screen.leave();
    this.#terminal.close();
    try {
      return await work();
    } finally {
      this.#terminal.open();
      this.#screen.comeBack();
    }
  }

  /** A tool asks something: the next line is the answer. */
  ask(question: Parameters<CallContext["ask"]>[0]): Promise<string | undefined> {
    const answer = this.#questions.ask(question);
    this.print(this.#questions.rows(this.parts.out));
    this.draw();
    return answer;
  }

  /** Ends what runs; every call gets its answer, and what was queued comes back to be edited. */
  stop(): void {
    this.#stopped = true;
    this.#questions.giveUp();
    void this.chat.agent.stop();
  }

  /** Ctrl-C: the text that is being written, then the turn, then the program. */
  interrupt(): void {
    const again = performance.now() - this.#interruptedAt < AGAIN_MS;
    this.#interruptedAt = performance.now();
    if (again) return this.quit();
    if (this.isWorking) this.stop();
    else this.#line?.set("");
    this.#hint = "Ctrl-C again to quit";
    this.draw();
  }

  /** Said while it works: heard before the model is asked the next time. */
  steer(text: string): void {
    if (this.chat.agent.steer(text)) this.print(this.#said(text, "↪ "));
    else this.send(text);
  }

  /** Said now, or as soon as the turn is over. */
  send(text: string): void {
    if (this.isWorking) this.#queue.push(text);
    else {
      this.print(this.#said(text));
      this.#work(this.chat.send(text));
    }
    this.draw();
  }

  /** Puts a text before the person, to be edited and sent. */
  offer(text: string): void {
    this.#line?.set(text);
  }

  draw(): void {
    clearTimeout(this.#redraw);
    this.#redraw = undefined;
    if (this.#line === undefined) return;
    const { color, ascii } = this.parts.out;
    const queued = this.#queue.map((text) => color.dim(`  ${ascii ? ">" : "⏳"} ${firstLine(text)}`));
    const above = [...(this.#view?.live() ?? []), ...queued];
    const { rows, caret } = this.#line.layout({
      width: this.columns - 1,
      height: Math.max(Math.floor(this.#terminal.rows / 2), 1),
      isSecret: this.#questions.current?.secret === true,
      mark: this.#questions.current === undefined ? undefined : "?",
    });
    this.#screen.live({
      rows: [...above, ...rows, this.#status()],
      caret: { row: above.length + caret.row, before: caret.before },
    });
  }

  /** Draws soon: what comes in quick succession is drawn once. */
  #drawSoon(): void {
    this.#redraw ??= setTimeout(() => this.draw(), REDRAW_MS);
  }

  #status(): string {
    const { color } = this.parts.out;
    if (this.#hint !== "") return color.yellow(this.#hint);
    if (this.isWorking) return color.dim("Enter queues · Ctrl-S steers · Ctrl-C stops");
    const { model, agent, isPlanning } = this.chat;
    const mode = isPlanning ? color.magenta("plan mode") : color.dim(agent.session.profile);
    return `${color.dim(`${model.name} · `)}${mode}${color.dim(` · ${agent.session.cwd}`)}`;
  }

  #typed(text: string): void {
    clearTimeout(this.#escape);
    for (const key of this.#keys.read(text)) this.#press(key);
    if (this.#keys.isWaiting)
      this.#escape = setTimeout(() => {
        for (const key of this.#keys.giveUpWaiting()) this.#press(key);
        this.draw();
      }, ESCAPE_MS);
    this.draw();
  }

  #press(key: Key): void {
    const line = this.#line;
    if (line === undefined) return;
    const name = key.kind === "key" ? key.name : undefined;
    if (name !== "interrupt") {
      this.#hint = "";
      this.#interruptedAt = Number.NEGATIVE_INFINITY;
    }
    switch (name) {
      case "interrupt":
        return this.interrupt();
      case "end-of-input":
        if (line.text === "") this.quit();
        return;
      case "suspend":
        this.#screen.leave();
        return this.#terminal.suspend();
      case "redraw":
        this.#screen.leave();
        this.#terminal.write("\x1b[H\x1b[2J");
        return this.#screen.comeBack();
      case "escape":
        if (!line.closeChoices() && this.isWorking) this.stop();
        return;
      case "enter":
        return this.#enter(line);
      case "steer":
        if (line.text.trim() !== "") this.steer(line.take());
        return;
      case "up":
        if (line.text === "" && this.#queue.length > 0) return line.set(this.#queue.pop() ?? "");
        return line.up();
      default:
        line.press(key, () => this.draw());
    }
  }

  #enter(line: InputLine): void {
    if (this.#questions.current !== undefined) {
      const { secret } = this.#questions.current;
      const answer = line.take({ forget: secret === true });
      if (secret !== true) this.print(this.#said(answer, "? "));
      return this.#questions.answer(answer);
    }
    if (line.text.trim() === "") return;
    const text = line.take();
    if (/^\/[a-z]+(?:\s|$)/.test(text)) {
      this.print(this.#said(text));
      void runSlashCommand(this, text).finally(() => this.draw());
    } else this.send(text);
  }

  #work(events: AsyncIterable<AgentEvent>): void {
    const view = new TurnView({
      out: this.parts.out,
      columns: () => this.columns,
      emojiOf: (tool) => this.chat.agent.session.view.entries.get(tool)?.emoji,
      pictures: join(this.parts.home, "cache", "pictures"),
      print: (rows) => this.print(rows),
      changed: () => this.#drawSoon(),
    });
    this.#view = view;
    this.#stopped = false;
    const frames = setInterval(() => {
      view.tick();
      this.draw();
    }, FRAME_MS);
    void this.#follow(view, events).finally(() => {
      clearInterval(frames);
      this.#view = undefined;
      this.#goOn();
      this.draw();
    });
  }

  async #follow(view: TurnView, events: AsyncIterable<AgentEvent>): Promise<void> {
    try {
      for await (const event of events) await view.take(event);
    } catch (error) {
      this.showError(error);
    }
  }

  showError(error: unknown): void {
    const { out } = this.parts;
    const message = error instanceof Error ? error.message : String(error);
    this.print([`${out.mark("error")} ${out.color.red(visibleLines(message))}`]);
  }

  /** What waits is sent; after a stop it is given back instead, for the person may want it otherwise now. */
  #goOn(): void {
    const waiting = [...this.chat.agent.takeUnheard(), ...this.#queue];
    this.#queue = [];
    if (waiting.length === 0) return;
    if (this.#stopped) {
      const written = this.#line?.text ?? "";
      return this.offer([...waiting, written].filter((text) => text !== "").join("\n"));
    }
    const [next = "", ...others] = waiting;
    this.#queue = others;
    this.send(next);
  }

  #said(text: string, sign = "› "): readonly string[] {
    const { color, ascii } = this.parts.out;
    const mark = ascii ? "> " : sign;
    return visibleLines(text)
      .split("\n")
      .map((line, index) => color.bold(`${index === 0 ? mark : "  "}${line}`));
  }
}

function firstLine(text: string): string {
  const [first = "", ...others] = visibleLines(text).split("\n");
  return others.length === 0 ? first : `${first} …`;
}
