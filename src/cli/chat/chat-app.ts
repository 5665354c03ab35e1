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
import { wrapLines } from "./rows.js";
import { ChatScreen } from "./screen.js";
import { ChatTerminal } from "./terminal.js";
import { ChatTurns, saidRows } from "./turns.js";
import { welcomeRows } from "./welcome.js";

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

/** What there is once the chat has begun. */
interface Begun {
  readonly chat: ChatAgent;
  readonly turns: ChatTurns;
  readonly line: InputLine;
}

/** The chat as a person has it before them: the screen, the keys, and what each key means now. */
export class ChatApp {
  readonly parts: AppParts;
  readonly #terminal: ChatTerminal;
  readonly #screen: ChatScreen;
  readonly #keys = new KeyReader();
  readonly #questions = new Questions();
  #begun: Begun | undefined;
  #isOver = false;
  #hint = "";
  #hinted: NodeJS.Timeout | undefined;
  #interruptedAt = Number.NEGATIVE_INFINITY;
  #redraw: NodeJS.Timeout | undefined;
  #escape: NodeJS.Timeout | undefined;
  #leave: () => void = () => {};

  constructor(parts: AppParts) {
    this.parts = parts;
    this.#terminal = new ChatTerminal({
      typed: (text) => this.#typed(text),
      resized: () => this.#redrawAll(),
      resumed: () => this.#screen.comeBack(),
      remarked: (lines) => this.print(lines.map((line) => visibleWithColours(line))),
    });
    this.#screen = new ChatScreen(this.#terminal);
  }

  get chat(): ChatAgent {
    return this.#parts().chat;
  }

  get turns(): ChatTurns {
    return this.#parts().turns;
  }

  get columns(): number {
    return this.#terminal.columns;
  }

  /** Until the person leaves. */
  async run({ chat, history }: { chat: ChatAgent; history: InputHistory }): Promise<void> {
    const { out, home } = this.parts;
    const line = new InputLine({ out, history, cwd: () => chat.agent.session.cwd });
    const turns = new ChatTurns(chat, {
      out,
      home,
      columns: () => this.columns,
      print: (rows) => this.print(rows),
      draw: () => this.draw(),
      drawSoon: () => this.#drawSoon(),
      giveBack: (texts) => line.set([...texts, line.text].filter((text) => text !== "").join("\n")),
      showError: (error) => this.showError(error),
    });
    this.#begun = { chat, turns, line };
    const left = new Promise<void>((resolve) => {
      this.#leave = resolve;
    });
    this.#terminal.open();
    try {
      this.print(await welcomeRows(this));
      this.draw();
      await turns.finishCutOff();
      await left;
    } finally {
      this.#isOver = true;
      clearTimeout(this.#escape);
      clearTimeout(this.#hinted);
      this.#questions.giveUp();
      this.#screen.leave();
      this.#terminal.close();
    }
  }

  quit(): void {
    this.#leave();
  }

  print(rows: readonly string[]): void {
    this.#screen.print(rows);
    this.#drawSoon();
  }

  /** A remark for the person. */
  note(message: string): void {
    const { dim } = this.parts.out.color;
    this.print(wrapLines(visibleLines(message), { mark: dim("· "), width: this.columns - 1, paint: dim }));
  }

  showError(error: unknown): void {
    const { out } = this.parts;
    const message = visibleLines(error instanceof Error ? error.message : String(error));
    const mark = `${out.mark("error")} `;
    this.print(wrapLines(message, { mark, width: this.columns - 1, paint: out.color.red }));
  }

  /** The terminal is somebody else's meanwhile. */
  async away<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#screen.leave();
    this.#terminal.close();
    try {
      return await work();
    } finally {
      if (!this.#isOver) {
        this.#terminal.open();
        this.#screen.comeBack();
      }
    }
  }

  /** A tool asks something: the next line is the answer. */
  ask(question: Parameters<CallContext["ask"]>[0]): Promise<string | undefined> {
    const answer = this.#questions.ask(question);
    this.print(this.#questions.rows(this.parts.out));
    this.draw();
    return answer;
  }

  stop(): void {
    this.#questions.giveUp();
    this.turns.stop();
  }

  /** Ctrl-C: the text that is being written, or the turn; the second one within a moment, the program. */
  interrupt(): void {
    const { turns, line } = this.#parts();
    const again = performance.now() - this.#interruptedAt < AGAIN_MS;
    this.#interruptedAt = performance.now();
    if (again) {
      this.quit();
      return;
    }
    if (turns.isWorking) this.stop();
    else line.set("");
    this.#hint = "Ctrl-C again to quit";
    clearTimeout(this.#hinted);
    this.#hinted = setTimeout(() => {
      this.#hint = "";
      this.draw();
    }, AGAIN_MS);
    this.draw();
  }

  /** Puts a text before the person, to be edited and sent. */
  offer(text: string): void {
    this.#parts().line.set(text);
  }

  draw(): void {
    clearTimeout(this.#redraw);
    this.#redraw = undefined;
    if (this.#begun === undefined || this.#isOver) return;
    const { turns, line } = this.#begun;
    const question = this.#questions.current;
    const above = turns.live();
    const { rows, caret } = line.layout({
      width: this.columns - 1,
      height: Math.max(Math.floor(this.#terminal.rows / 2), 1),
      isSecret: question?.secret === true,
      mark: question === undefined ? undefined : "?",
    });
    this.#screen.live({
      rows: [...above, ...rows, this.#status()],
      caret: { row: above.length + caret.row, before: caret.before },
    });
  }

  /** What comes in quick succession is drawn once. */
  #drawSoon(): void {
    this.#redraw ??= setTimeout(() => this.draw(), REDRAW_MS);
  }

  #redrawAll(): void {
    this.#screen.resized();
    this.draw();
  }

  #parts(): Begun {
    if (this.#begun === undefined) throw new Error("the chat has not begun");
    return this.#begun;
  }

  #status(): string {
    const { color } = this.parts.out;
    if (this.#hint !== "") return color.yellow(this.#hint);
    if (this.#questions.current !== undefined) return color.dim("Enter answers · Ctrl-C stops");
    if (this.turns.isWorking) return color.dim("Enter queues · Ctrl-S steers · Ctrl-C stops");
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
    const { line, turns } = this.#parts();
    const name = key.kind === "key" ? key.name : undefined;
    if (name !== "interrupt") {
      this.#hint = "";
      this.#interruptedAt = Number.NEGATIVE_INFINITY;
    }
    switch (name) {
      case "interrupt":
        this.interrupt();
        break;
      case "end-of-input":
        if (line.text === "") this.quit();
        break;
      case "suspend":
        this.#screen.leave();
        this.#terminal.suspend();
        break;
      case "redraw":
        this.#redrawAll();
        break;
      case "escape":
        if (!line.closeChoices() && turns.isWorking) this.stop();
        break;
      case "enter":
        this.#enter();
        break;
      case "steer":
        if (line.text.trim() !== "") turns.steer(line.take());
        break;
      case "up": {
        const queued = line.text === "" ? turns.takeLastQueued() : undefined;
        if (queued === undefined) line.up();
        else line.set(queued);
        break;
      }
      default:
        line.press(key, () => this.draw());
    }
  }

  #enter(): void {
    const { line, turns } = this.#parts();
    const question = this.#questions.current;
    if (question !== undefined) {
      const isSecret = question.secret === true;
      const answer = line.take({ forget: isSecret });
      if (!isSecret) this.print(saidRows(answer, this.parts.out, "? "));
      this.#questions.answer(answer);
      return;
    }
    if (line.text.trim() === "") return;
    const text = line.take();
    if (!/^\/[a-z]+(?:\s|$)/.test(text)) {
      turns.send(text);
      return;
    }
    this.print(saidRows(text, this.parts.out));
    void runSlashCommand(this, text).finally(() => this.draw());
  }
}
