import { visibleLines } from "../../base/visible-text.js";
import type { CallContext } from "../../tool/tool.js";
import type { Output } from "../output.js";

type Question = Parameters<CallContext["ask"]>[0];

/** Questions of tools to the person, one at a time in the order they came. */
export class Questions {
  #waiting: { readonly question: Question; settle(answer: string | undefined): void }[] = [];

  get current(): Question | undefined {
    return this.#waiting[0]?.question;
  }

  ask(question: Question): Promise<string | undefined> {
    return new Promise((settle) => {
      this.#waiting.push({ question, settle });
    });
  }

  /** A number stands for the choice it names; nothing is no answer. */
  answer(typed: string): void {
    const first = this.#waiting.shift();
    const choice = first?.question.choices?.[Number(typed.trim()) - 1];
    first?.settle(choice ?? (typed.trim() === "" ? undefined : typed));
  }

  /** Nobody will answer any more. */
  giveUp(): void {
    for (const { settle } of this.#waiting.splice(0)) settle(undefined);
  }

  /** The newest, as it is shown. */
  rows({ color }: Output): readonly string[] {
    const { question, choices = [] } = this.#waiting.at(-1)?.question ?? { question: "" };
    return [
      "",
      ...visibleLines(question)
        .split("\n")
        .map((line) => color.yellow(`? ${line}`)),
      ...choices.map((choice, index) => `  ${index + 1}. ${visibleLines(choice)}`),
      color.dim(choices.length === 0 ? "  Type the answer." : "  Type a number, or another answer."),
    ];
  }
}
