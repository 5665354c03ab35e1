import type { ShellWord } from "../types.js";
import { hostOf, isOwnHost } from "./addresses.js";
import type { Call, Condition } from "./row.js";

/**
 * Tools that are dangerous by nature: their verbs reach real machines, accounts and people. What is known to look, and what
 * everybody does all day, is listed; the rest is asked about, verbs of the next release among it.
 *
 * A list is paths with `;` between them: each step a `|` list of spellings in which `*` is any text; LOOK stands for a verb
 * that looks, FEW for small numbers to the end, a leading `**` for nouns in front of the verb.
 */

const LOOKS =
  /^(?:[\w-]+:)*(?:(?:list|ls|get|describe|show|view|search|find|lookup|inspect|head|query|validate|check|batch-get|batch-describe|transact-get|simulate|estimate|preview|select|compare|filter|detect|decode|tail|wait)(?:-[\w-]+)?|l|info|status|read|logs?|history|diff|plan|verify|watch|ping|help|version|whoami|explain|cat|stats?|scan|completions?|doctor|docs|lint|print|display|events?|usage|current|test|top|metrics|graph|tree|browse|open|dump|describe\w*|peek|poll|releases|what-if|exists|health|summarize)$/i;
/** What follows one of these is a name, also when it sounds like a verb that looks. */
const CHANGES =
  /^(?:(?:add|create|delete|remove|set|update|reset|put|modify|purchase|rotate|register|enable|disable|attach|detach)(?:-[\w-]+)?|new|edit|patch|destroy|rm|start|stop|restart|resize|scale|run|apply|import|export|restore|move|copy|grant|invoke|send|publish|promote|upgrade|install|transfer|launch|buy|issue|clone|rename|allocate\S*|rebuild|migrate|invite|submit|bootstrap|write|push)$/;
/** How many words deep a verb may stand. */
const DEEPEST = 6;

type Step = RegExp | "few" | "many";

const stepOf = (step: string): Step => {
  if (step === "**") return "many";
  if (step === "FEW") return "few";
  if (step === "LOOK") return LOOKS;
  return new RegExp(`^(?:${step.replace(/[.+]/g, "\\$&").replaceAll("*", ".*")})$`, "is");
};

/** Whether the use of a tool is not among those that are listed; the verb it names is the one that was not known. */
export function unlisted(list: string): Condition {
  let compiled: readonly (readonly Step[])[] | undefined;
  return (call) => {
    const operands = call.operands.filter((word) => !standsForOptions(word));
    if (operands.length === 0 || asksOwnMachine(call)) return undefined;
    compiled ??= list
      .trim()
      .split(/\s*;\s*/)
      .map((path) => path.split(/\s+/).map(stepOf));
    if (compiled.some((steps) => follows(steps, operands))) return undefined;
    const verb = verbOf(compiled, operands);
    // Behind another program its name may be a word among words: then only a verb that surely changes counts.
    if (call.command.wrappers.at(-1)?.kind === "local" && !CHANGES.test(verb.text)) return undefined;
    // A file is no verb: an alias is judged with one behind it.
    if (verb.text.startsWith("./")) return undefined;
    const asked = operands.slice(0, operands.indexOf(verb) + 1).map(({ text }) => text.slice(0, LONGEST));
    const what = asked.join(" ").replace(/[^\w]+$/, "") || "something";
    const named = /^[\w:.-]{1,60}$/.test(verb.text) ? verb : undefined;
    return { word: verb, verb: named, reason: `${effectOf(verb.text)}: ${what} is not known to only look` };
  };
}
const LONGEST = 60;

const effectOf = (verb: string): string =>
  /delete|destroy|remove|purge|terminate|drop|uninstall|wipe|^rm$/i.test(verb)
    ? "deletes something that others may rely on"
    : /stop|restart|reboot|shutdown|suspend|poweroff|deallocate|^kill$|^down$/i.test(verb)
      ? "stops something that others may rely on"
      : "may change, open or cost something";

/** `$TF_ARGS plan`: a variable that is called after options is not taken for the verb. */
const standsForOptions = ({ known, variables }: ShellWord): boolean =>
  !known && variables?.some((name) => /(?:ARG|OPT|FLAG|PARAM|PROFILE)S?$/i.test(name)) === true;

/** Emulators and servers of this machine stand in for the real ones. */
function asksOwnMachine(call: Call): boolean {
  return call
    .given("endpoint-url", "endpoint", "api-url", "host", "address", "server", "url")
    .some(({ text, known }) => known && isOwnHost(hostOf(text) ?? text));
}

function follows(steps: readonly Step[], operands: readonly ShellWord[]): boolean {
  if (steps[0] !== "many") return beginsWith(steps, operands);
  const rest = steps.slice(1);
  for (let start = 0; start < Math.min(operands.length, DEEPEST); start++) {
    if (beginsWith(rest, operands.slice(start))) return true;
    if (start > 0 && CHANGES.test(operands[start]?.text ?? "")) return false;
  }
  return false;
}

const beginsWith = (steps: readonly Step[], operands: readonly ShellWord[]): boolean =>
  steps.every((step, index) => {
    if (step === "few")
      return operands.slice(index).every(({ text }) => /^(?:[\w.-]+=)?\+?[1-9]$/.test(text));
    const word = operands[index];
    return word?.known === true && step instanceof RegExp && step.test(word.text);
  });

/** The word behind the longest path that begins like this; behind nouns, the first that changes. */
function verbOf(paths: readonly (readonly Step[])[], operands: readonly ShellWord[]): ShellWord {
  let known = 0;
  for (const steps of paths)
    for (let at = 0; at < steps.length && beginsWith(steps.slice(0, at + 1), operands); at++)
      known = Math.max(known, at + 1);
  const walks = paths.some(([first]) => first === "many");
  const changing = operands
    .slice(0, DEEPEST)
    .find(({ text }, index) => (index > 0 || !walks) && CHANGES.test(text));
  const index = Math.min(walks ? Math.max(known, 1) : known, operands.length - 1);
  return changing ?? (operands[index] as ShellWord);
}
