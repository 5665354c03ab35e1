import type { Rule, ShellWord } from "../types.js";
import { TAKES_DATA } from "./data-programs.js";
import { danger } from "./row.js";

/**
 * Tools that no other family knows. Their sub-commands are English verbs: one that destroys, in front of a thing
 * to be destroyed, or one that publishes, needs no table to be understood.
 */

const DESTROYS =
  /^(?:(?:[a-z0-9_.]+[:-])?(?:delete|destroy|purge|wipe|erase|expunge|nuke|obliterate|uninstall|deprovision|decommission|teardown|flushall|factory-reset)(?:[:-](?:all|[a-z]+))?|drop-(?:all|db|database|table|tables)|force-(?:delete|destroy|remove)|remove-all|delete_all|remove_all|destroy_all|drop_all)$/;
/** With these only together with an option that forbids questions, or one that means everything. */
const REMOVES =
  /^(?:rm|remove|drop|del|reset|prune|terminate|shutdown|gc|clear|evict|revoke|clean|stop|truncate|kill|wipe-md)(?:[:-][a-z]+)?$/;
/** What `drop` is told to drop. */
const DROPPED = /^(?:databases?|db|schemas?|tables?|keyspaces?|index(?:es)?|collections?|topics?|buckets?)$/;
const INSISTS =
  /^(?:-f|-y|-yf|-fy|--force|force|--yes|--all|--assume-yes|--no-confirm|--no-prompt|--auto-approve|--purge|--hard|--cascade|--non-interactive|--skip-confirmation|--mode=script|--batch|--yes-i-[\w-]+)$/;
/** Options that take no value: what follows them may be the sub-command. */
const SWITCH =
  /^(?:--|-[dfiqvxy]|--(?:insecure|quiet|verbose|debug|json|silent|trace|tls|ssl|clean|wait|no-[\w-]+))$/;
/** What follows one of these is the name of something to look at, make or search for. */
const LOOKS =
  /^(?:get|list|ls|show|describe|status|help|search|find|info|view|inspect|explain|add|create|new|init|run|test|exec|logs?|print|watch|query|lookup|define)$/;
const WORD = /^[a-z][a-z0-9_:-]{0,40}$/;
/** How many words deep a sub-command may stand: `cli db users delete x`. */
const DEEPEST = 4;
const PUBLISHES = /^(?:publish|release|full-release|upload|deploy|unpublish|yank|promote)$/;
const ONLY_SHOWS =
  /^(?:--?help|--version|--dry-?run|-n|--whatif|--preview|--plan|--snapshot|--check|--validate|--local|--list)$/i;

export function unknownTools(known: ReadonlySet<string>): Rule {
  return ({ program, name, args }) => {
    if (args.length === 0 || known.has(program) || TAKES_DATA.has(program)) return undefined;
    if (!/^[a-z][a-z0-9_.-]{1,30}$/.test(program) || /\.(?:sh|py|js|ts|rb|pl)$/.test(program))
      return undefined;
    if (name.text.includes("/") || /^(?:python|perl|ruby|node|php|lua)[\d.]*$/.test(program))
      return undefined;
    if (args.at(-1)?.text === "-h" || args.some(({ text }) => ONLY_SHOWS.test(text))) return undefined;
    const option = args.find(({ text }) => DESTROYING_OPTION.test(text));
    if (option !== undefined) return destroys(option);
    const words = subCommands(args);
    const [first] = words;
    if (first !== undefined && PUBLISHES.test(first.text))
      return danger("package.publish", "publishes or deploys something for others", first);
    const verb = destroyingVerb(words, args);
    return verb === undefined ? undefined : destroys(verb);
  };
}

const destroys = (word: ShellWord) =>
  danger("unknown-tool.destroy", "tells a tool to delete or destroy something", word);
/** `--delete1`, `--purge-all`: what is deleted once it has been copied, or found. */
const DESTROYING_OPTION =
  /^--(?:delete|purge|wipe|erase|destroy|expunge)(?:\d|-(?:all|source|folder|files?|data|old\w*|missing|extra\w*|after|before|everything))?$/;

/** Neither options nor what stands behind one that may take a value. */
function subCommands(args: readonly ShellWord[]): readonly ShellWord[] {
  return args.filter(({ text }, index) => {
    const before = args[index - 1]?.text ?? "";
    return (
      !text.startsWith("-") && (!/^--?[\w-]+$/.test(before) || SWITCH.test(before) || INSISTS.test(before))
    );
  });
}

function destroyingVerb(words: readonly ShellWord[], args: readonly ShellWord[]): ShellWord | undefined {
  const insists = args.some(({ text }) => INSISTS.test(text));
  for (const [at, word] of words.slice(0, DEEPEST).entries()) {
    if (!WORD.test(word.text) || LOOKS.test(word.text)) return undefined;
    const aims = at + 1 < words.length || args.indexOf(word) + 2 < args.length;
    if (word.text === "del" && at > 0 && aims) return word;
    if (DESTROYS.test(word.text) && (aims || at > 0 || /[:-]/.test(word.text))) return word;
    if (REMOVES.test(word.text) && insists) return word;
    if (word.text === "drop" && DROPPED.test(words[at + 1]?.text ?? "")) return word;
  }
  return undefined;
}
