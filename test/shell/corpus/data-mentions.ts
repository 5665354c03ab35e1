import type { Random } from "./random.js";
import { singleQuote } from "./wrappers.js";

interface Mention {
  readonly name: string;
  readonly fits?: (text: string) => boolean;
  readonly write: (text: string, random: Random) => string;
  /** Nothing may follow on the last line. */
  readonly last?: boolean;
}

const hasNoQuotes = (text: string): boolean => !/['"\\$`]/.test(text);
const isOneLine = (text: string): boolean => !text.includes("\n");

const MENTIONS: readonly Mention[] = [
  { name: "echo", write: (text) => `echo ${singleQuote(text)}` },
  {
    name: "echo-file",
    write: (text, random) => `echo ${singleQuote(text)} ${random.pick([">", ">>"])} notes.md`,
  },
  { name: "printf", write: (text) => `printf '%s\\n' ${singleQuote(text)}` },
  {
    name: "grep",
    write: (text, random) =>
      `${random.pick(["grep -rnF", "rg -F", "git grep -n -F", "fgrep -c"])} ${singleQuote(text)} ${random.pick(["scripts", "docs", "."])}`,
  },
  {
    name: "commit",
    write: (text, random) =>
      `git commit -m ${singleQuote(`${random.pick(["docs: never run", "fix: replace", "test for"])} ${text}`)}`,
  },
  { name: "log-grep", write: (text) => `git log --oneline --grep=${singleQuote(text)}` },
  { name: "jq", write: (text) => `jq -n --arg cmd ${singleQuote(text)} '{cmd: $cmd}'` },
  { name: "issue", write: (text) => `gh issue create --title 'odd command' --body ${singleQuote(text)}` },
  { name: "assignment", write: (text) => `SAMPLE=${singleQuote(text)}; echo "$SAMPLE"` },
  {
    name: "test-string",
    write: (text, random) =>
      random.pick([
        `[[ "$line" == ${singleQuote(text)} ]] && echo same`,
        `test "$line" = ${singleQuote(text)}`,
      ]),
  },
  { name: "no-op", write: (text) => `: ${singleQuote(text)}` },
  {
    name: "wc",
    write: (text, random) =>
      `${random.pick(["wc -c", "cat", "sha256sum", "base64"])} <<< ${singleQuote(text)}`,
  },
  { name: "python-print", fits: hasNoQuotes, write: (text) => `python3 -c "print('${text}')"` },
  { name: "node-print", fits: hasNoQuotes, write: (text) => `node -e "console.log('${text}'.length)"` },
  { name: "awk-print", fits: hasNoQuotes, write: (text) => `awk 'BEGIN { print "${text}" }'` },
  { name: "double-quotes", fits: hasNoQuotes, write: (text) => `echo "would run: ${text}"` },
  { name: "escaped-substitution", fits: hasNoQuotes, write: (text) => `echo "\\$(${text})"` },
  { name: "single-quoted-substitution", fits: hasNoQuotes, write: (text) => `echo '$(${text})'` },
  {
    name: "inner-echo",
    fits: hasNoQuotes,
    write: (text, random) =>
      `${random.pick(["bash -c", "sh -c", "ssh web1", "eval"])} ${singleQuote(`echo "${text}"`)}`,
  },
  { name: "container-echo", write: (text) => `docker run --rm alpine echo ${singleQuote(text)}` },
  { name: "unquoted-echo", fits: (text) => /^[\w ./:=+@-]+$/.test(text), write: (text) => `echo ${text}` },
  { name: "dry-xargs", write: (text) => `ls | xargs -n1 echo ${singleQuote(text)}` },
  {
    name: "case-pattern",
    fits: isOneLine,
    write: (text) => `case "$line" in ${singleQuote(text)}) echo refused ;; esac`,
  },
  { name: "heredoc-cat", last: true, write: (text) => `cat <<'DOC'\n${text}\nDOC` },
  {
    name: "heredoc-file",
    last: true,
    write: (text, random) =>
      `cat > ${random.pick(["docs/ops.md", "sample.txt"])} <<'DOC'\n# How not to\n${text}\nDOC`,
  },
  { name: "heredoc-grep", last: true, write: (text) => `grep -c x <<'DOC'\n${text}\nDOC` },
  { name: "heredoc-commit", last: true, write: (text) => `git commit -F - <<'MSG'\nsubject\n\n${text}\nMSG` },
  {
    name: "comment",
    last: true,
    fits: isOneLine,
    write: (text, random) => random.pick([`ls -la # ${text}`, `# ${text}`, `npm test #; ${text}`]),
  },
  { name: "comment-line", fits: isOneLine, write: (text) => `# ${text}\ngit status` },
];

/** Puts dangerous text where no shell runs it. */
export function mentionAsData(
  text: string,
  random: Random,
): { readonly text: string; readonly name: string; readonly last: boolean } {
  const mention = random.pick(MENTIONS.filter((each) => each.fits?.(text) ?? true));
  return { text: mention.write(text, random), name: mention.name, last: mention.last === true };
}
