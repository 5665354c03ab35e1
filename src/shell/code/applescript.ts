import { UNKNOWN } from "../types.js";
import { EffectList } from "./effect-list.js";
import type { Language } from "./languages.js";
import { tokenize } from "./tokens.js";

/** AppleScript reaches a shell by one phrase: `do shell script "…"`. */
export function effectsOfAppleScript(code: string, language: Language): ReturnType<EffectList["result"]> {
  const list = new EffectList();
  const tokens = tokenize(code, language) ?? [];
  if (tokens.length === 0 && /shell\s+script/i.test(code)) list.opaque = true;
  const words = tokens.map(({ text }) => text.toLowerCase());
  for (let index = 0; index + 2 < tokens.length; index++) {
    if (words[index] !== "do" || words[index + 1] !== "shell" || words[index + 2] !== "script") continue;
    let text = "";
    for (let at = index + 3; at < tokens.length; at++) {
      const token = tokens[at];
      if (token?.kind === "text") text += token.text;
      else if (token?.kind === "name" && !/^(?:with|without|user|password|as)$/.test(words[at] ?? ""))
        text += UNKNOWN;
      else if (token?.text !== "&" && token?.text !== "(") break;
    }
    list.runsText(text === "" ? UNKNOWN : text);
  }
  return list.result();
}
