import { randomBytes } from "node:crypto";
import { aborted } from "../base/deadline.js";
import { type Deferred, deferred } from "../base/deferred.js";
import type { ButtonPress, Gateway, IncomingMessage, Person } from "./gateway.js";
import type { GatewayStore } from "./gateway-store.js";
import type { Role } from "./people.js";
import { splitText } from "./split-text.js";

/** Where somebody sits for whom a turn runs: questions of the turn go there and to nobody else. */
export interface Seat {
  readonly gateway: Gateway;
  readonly chat: string;
  readonly person: Person;
  readonly role: Role;
  readonly replyTo?: string | undefined;
}

export interface Choice {
  readonly label: string;
  readonly value: string;
}

export interface QuestionText {
  readonly id?: string | undefined;
  readonly text: string;
  readonly choices: readonly Choice[];
  /** Said in place of buttons where there are none. */
  readonly howToType: string;
  /** What typed words mean; undefined: they are no answer. */
  typed(text: string): string | undefined;
}

export interface Answered {
  readonly value: string;
  readonly by: Person;
}

/** Either it counts, or the person is told why not. */
export type TypedAnswer = { apply(): void } | { readonly say: string };

interface OpenQuestion extends QuestionText {
  readonly id: string;
  readonly seat: Seat;
  readonly answer: Deferred<Answered | undefined>;
  part: number | undefined;
}

export interface QuestionsParts {
  readonly store: GatewayStore;
  /** There is something in the outbox. */
  wake(gateway: string, chat: string): void;
}

const OVER = "This question is over.";
const NOT_YOURS = "This question is for somebody else.";

/** Questions that wait in chats. They live as long as the call that asks; nobody is bound by an answer to a dead one. */
export class Questions {
  readonly #parts: QuestionsParts;
  readonly #open = new Map<string, OpenQuestion>();

  constructor(parts: QuestionsParts) {
    this.#parts = parts;
  }

  /** Undefined when nobody answered. */
  async ask(asked: {
    readonly seat: Seat;
    readonly question: QuestionText;
    readonly signal: AbortSignal;
  }): Promise<Answered | undefined> {
    const { seat, question, signal } = asked;
    const id = question.id ?? `ask_${randomBytes(9).toString("base64url")}`;
    const open: OpenQuestion = { ...question, id, seat, answer: deferred(), part: undefined };
    this.#open.set(id, open);
    try {
      const shown = await this.#show(open);
      const answered = await Promise.race([open.answer.promise, aborted(signal).then(() => undefined)]);
      // Buttons that look alive after the question has died would be pressed.
      await this.#close(open, `${shown}\n\n${verdict(open, answered)}`);
      return answered;
    } finally {
      this.#open.delete(id);
    }
  }

  /** A button was pressed: only the one who is asked can do that, and only while it is asked. */
  async press(gateway: Gateway, press: ButtonPress): Promise<string> {
    const [, id = "", index = ""] = /^(.*):(\d+)$/.exec(press.data) ?? [];
    const question = this.#open.get(id);
    if (question === undefined) {
      await this.#removeButtons(gateway, press);
      return OVER;
    }
    if (!isAsked(question, { ...press, gateway: gateway.name })) return NOT_YOURS;
    const choice = question.choices[Number(index)];
    if (choice === undefined) return OVER;
    question.answer.resolve({ value: choice.value, by: press.person });
    return choice.label;
  }

  /**
   * What a typed message does when it answers an open question; undefined when it is an ordinary message. While several are
   * open, an answer without the mark of one of them counts for none.
   */
  typed(gateway: string, message: IncomingMessage): TypedAnswer | undefined {
    const [, words = message.text.trim(), mark] = /^(.*\S)\s+#(\S{4})$/s.exec(message.text.trim()) ?? [];
    const asked = [...this.#open.values()].filter(
      (each) => isAsked(each, { ...message, gateway }) && (mark === undefined || markOf(each.id) === mark),
    );
    const meant = asked.filter((each) => each.typed(words) !== undefined);
    const [question] = meant;
    if (question === undefined) return undefined;
    if (meant.length > 1)
      return {
        say: `${meant.length} questions are open. Add the mark of the one you mean: ${words} #${markOf(question.id)}`,
      };
    const value = question.typed(words) ?? "";
    return { apply: () => question.answer.resolve({ value, by: message.person }) };
  }

  /** Nobody will see it. */
  undeliverable(part: number): void {
    for (const question of this.#open.values())
      if (question.part === part) question.answer.resolve(undefined);
  }

  async #show(open: OpenQuestion): Promise<string> {
    const { store, wake } = this.#parts;
    const { gateway, chat, replyTo } = open.seat;
    const { buttons: hasButtons, maxChars } = gateway.traits;
    const how = hasButtons ? "" : `\n${open.howToType}`;
    const text = `${open.text}${how} #${markOf(open.id)}`;
    // Room for the verdict that is added later.
    const pieces = splitText(text, { maxChars: maxChars - 200, rendered: (part) => gateway.rendered(part) });
    const last = pieces.at(-1) ?? "?";
    const buttons = open.choices.map(({ label }, index) => ({ label, data: `${open.id}:${index}` }));
    open.part = await store.write(() => {
      for (const piece of pieces.slice(0, -1)) store.outbox.add(gateway.name, { chat, text: piece, replyTo });
      return store.outbox.add(gateway.name, {
        chat,
        text: last,
        replyTo,
        ...(hasButtons && buttons.length > 0 && { buttons }),
      });
    });
    wake(gateway.name, chat);
    return last;
  }

  async #close({ seat, part, choices }: OpenQuestion, text: string): Promise<void> {
    const { store, wake } = this.#parts;
    const { gateway, chat } = seat;
    if (part === undefined || !gateway.traits.buttons || !gateway.traits.edits || choices.length === 0)
      return;
    await store.write(() => {
      const replaces = store.outbox.refOf(part);
      if (replaces !== undefined) store.outbox.add(gateway.name, { chat, text, replaces });
      else store.outbox.withdraw(part);
    });
    wake(gateway.name, chat);
  }

  async #removeButtons(gateway: Gateway, { chat, ref }: ButtonPress): Promise<void> {
    if (!gateway.traits.edits || ref === "") return;
    const { store, wake } = this.#parts;
    await store.write(() => store.outbox.add(gateway.name, { chat, text: OVER, replaces: ref }));
    wake(gateway.name, chat);
  }
}

/** Short enough to type. */
function markOf(id: string): string {
  return id.slice(-4);
}

/** The same person in the same chat of the same platform: nobody answers for another. */
function isAsked(
  { seat }: OpenQuestion,
  from: { readonly gateway: string; readonly chat: string; readonly person: Person },
): boolean {
  return seat.gateway.name === from.gateway && seat.chat === from.chat && seat.person.id === from.person.id;
}

function verdict({ choices }: OpenQuestion, answered: Answered | undefined): string {
  if (answered === undefined) return "⌛ Nobody answered in time.";
  const label = choices.find(({ value }) => value === answered.value)?.label ?? answered.value;
  return `→ ${label} (${answered.by.name})`;
}
