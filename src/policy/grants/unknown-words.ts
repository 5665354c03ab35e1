import { didYouMean } from "../../config/did-you-mean.js";
import type { ConfigProblem, LoadedConfig } from "../../config/types.js";
import { SUBJECTS } from "../../shell/rules/index.js";
import { programsOf } from "../../shell/rules/row.js";
import { placeOf } from "./config-grants.js";
import { grantOf } from "./grant.js";
import { ORIGINAL_WORDS } from "./original-words.js";

/** What begins a command without being a program. */
const OF_THE_SHELL =
  /^(?:alias|bg|cd|command|declare|echo|enable|eval|exec|exit|export|fg|for|if|jobs|kill|local|popd|printf|pushd|read|readonly|set|shopt|source|test|time|trap|type|typeset|ulimit|umask|unalias|unset|until|wait|while)$/;

/**
 * Bare texts of `command_allowlist` that cover nothing: neither words of the original, nor a rule or its reason, nor a
 * command that could be run here.
 */
export function unknownWords(
  config: LoadedConfig,
  isProgram: (name: string) => boolean,
): readonly ConfigProblem[] {
  const entries = config.values.command_allowlist;
  if (entries.length === 0) return [];
  const known = knownTexts();
  return entries.flatMap((entry): readonly ConfigProblem[] => {
    const grant = grantOf(entry, placeOf(config, entry));
    const { kind, text, file, line } = grant;
    const [first = ""] = text.split(/\s+/);
    // A path, an assignment or a sign is only written in a command; a dot in the first word, in a rule.
    const couldBeWords = kind === "text" && /^[a-z][a-z/-]*$/i.test(first) && !/[*?[$`;|&<>="'\\]/.test(text);
    if (!couldBeWords || known.texts.has(text.toLowerCase()) || known.texts.has(text)) return [];
    if (OF_THE_SHELL.test(first) || known.programs.has(first) || isProgram(first)) return [];
    return [
      {
        severity: "warning",
        source: config.origin("command_allowlist").source,
        message: `command_allowlist: ${JSON.stringify(text)} covers nothing: no kind of danger is called so, and there is no program "${first}"`,
        hint:
          didYouMean(text, known.suggested) ??
          "write a command, a pattern (npm run *), a rule or the words of the original",
        key: "command_allowlist",
        file,
        line,
      },
    ];
  });
}

function knownTexts(): {
  readonly texts: ReadonlySet<string>;
  readonly programs: ReadonlySet<string>;
  readonly suggested: readonly string[];
} {
  const tools = SUBJECTS.flatMap((subject) => subject.tools);
  const rows = tools.flatMap((tool) => [tool, ...tool.rows]);
  const rules = rows.flatMap(({ rule }) => (typeof rule === "string" ? rule : []));
  const reasons = rows.flatMap(({ reason }) => (typeof reason === "string" ? reason : []));
  const families = rules.map((rule) => rule.replace(/\..*$/, ""));
  const suggested = [...Object.keys(ORIGINAL_WORDS), ...new Set(rules)];
  return {
    texts: new Set([...suggested, ...families, ...reasons]),
    programs: new Set(tools.flatMap((tool) => programsOf(tool))),
    suggested,
  };
}
