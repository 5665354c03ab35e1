/** Marks by which programs of all kinds tell a command from data, whatever the program is called. */

/** At the beginning of a value: `|cmd`, `!cmd`, `%pipe%cmd`, `\! cmd`, `:!cmd`, `~!cmd`. */
const OPENS_PIPE = /^\s*(?:\+|:|~|\\)?(?:[|!]|%pipe%)-?!?\s*(\S[\s\S]*)$/;
/** A line of a session or script: `.shell cmd`, `platform shell cmd`, `.sy cmd` of roff, `.once |cmd`. */
const LINE =
  /^\s*(?:\.(?:sh|she|shel|shell|sy|sys|syst|syste|system|pso)|(?:platform\s+)?shell|host|pager|\\P|[:\\~]?!{1,2}|(?:\.|\\)\w+\s+(?:-\w+\s+)*["']?\||pipe\s[^|]*\|)\s*(\S.*)$/gim;
/** A call with the command as its first text: `system("cmd")`, `os:cmd("cmd")`, `(shell-command "cmd")`. */
const CALL =
  /\b(?:system\w*|popen|exec\w*|spawn\w*|shell_exec|passthru|e?syscmd|shell-command|run-shell|os:cmd|cmd|shell|sh|edit|call)(?:\s*\(\s*(?:int\s*\)\s*system\s*\(\s*)?|\s+)(?:'[^'\n]{0,60}'\s*,\s*)?(["'`])((?:(?!\1)[^\\]|\\.)*)/g;
/** In brackets of its own: `write18{cmd}`, `execute(cmd)`, `syscmd(cmd)`, and in backquotes. */
const BRACKETS =
  /(?:write18\s*\{|\b(?:execute|execute-silent|become|reload|transform|e?syscmd)\(|\bexecute_process\(\s*COMMAND\s|%sh\{)([^(){}]*)|`([^`\n]+)`/g;
const QUICK =
  /[|!`]|%pipe%|%sh\{|write18|sys|exec|spawn|popen|shell|cmd|become|reload|transform|host|pager|edit|\\P/i;
/** More of them in one text say nothing new. */
const MOST = 32;
/** Longer texts are data. */
const LONGEST = 20_000;

/** The commands a text would start in the hands of a program that knows such marks. */
export function embeddedCommands(text: string): readonly string[] {
  if (text.length > LONGEST || !QUICK.test(text)) return [];
  const found: string[] = [];
  const opened = OPENS_PIPE.exec(text)?.[1];
  if (opened !== undefined) found.push(opened);
  for (const [, command = ""] of text.matchAll(LINE)) found.push(command);
  for (const match of text.matchAll(CALL)) found.push(unescaped(match[2] ?? ""));
  for (const [, inBrackets, quoted] of text.matchAll(BRACKETS))
    found.push(inBrackets?.replace(/^[[`\s]+|[\]'\s]+$/g, "") ?? quoted ?? "");
  return found
    .slice(0, MOST)
    .map((each) =>
      each.replace(/["']\s*\w*\s*;?\s*$/, (end) => (/^[^"']*$/.test(each.slice(0, -end.length)) ? "" : end)),
    )
    .filter((each) => /\S\s+\S|\//.test(each));
}

function unescaped(text: string): string {
  return text.replace(/\\(["'`\\])/g, "$1");
}

const DELETING =
  "(?:(?:del|delete|remove|erase|unlink|rm)(?:[-_/]?(?:files?|dirs?|directory|tree|folder|path|contents|recursive(?:ly)?|recurse|all|sync|absolute|rf?|and|if|exists))+|unlink|rmtree|rmdir|(?<=[/.:])rm|(?<=file:|execute\\(|dir\\.|directory\\.|file\\.|filesys\\.)(?:delete|remove)|(?<=recursive_)rm)";
/** `delete_directory('/x')`, `(os/rm "/x")`, `file(REMOVE_RECURSE /x)`: a name that says so, in front of a place … */
const DELETES = new RegExp(`(?<![a-z])${DELETING}\\b["'\\s(,[]+([~/][^"'\`\\s)\\],]*)`, "gi");
/** … or behind it, where words stand so: `"/x" delete-tree`. */
const DELETES_BEFORE = new RegExp(`["']([~/][^"'\\n]*)["']\\s+${DELETING}\\b`, "gi");
const MAY_DELETE = /del|remove|erase|unlink|rm/i;

/** What the functions named in a program of any language would delete, as commands. */
export function deletions(text: string): readonly string[] {
  if (text.length > LONGEST || !MAY_DELETE.test(text)) return [];
  return [...text.matchAll(DELETES), ...text.matchAll(DELETES_BEFORE)]
    .slice(0, MOST)
    .map(([, path = ""]) => `rm -rf -- '${path.replaceAll("'", "")}'`.replace("'~", "~'"));
}
