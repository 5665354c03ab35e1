import type { ShellWord } from "../types.js";

/**
 * Programs that read options with `getopt_long` and its kin take any unambiguous beginning of a long name. Here stand
 * the names that decide something, for each such program; behind `!` those that are a name of their own although they
 * begin another one.
 */
const LONG_NAMES: Readonly<Record<string, string>> = {
  tar: "checkpoint-action to-command use-compress-program rsh-command info-script new-volume-script remove-files directory files-from !checkpoint",
  git: "force force-with-lease delete mirror prune receive-pack upload-pack exec hard open-files-in-pager config template extcmd output no-index unsafe-paths amend no-verify",
  sed: "expression file in-place",
  sort: "output compress-program files0-from",
  wget: "post-file body-file use-askpass output-document execute input-file directory-prefix",
  curl: "upload-file data-binary data-urlencode config output output-dir !data !form !url",
  env: "split-string chdir unset ignore-environment default-signal ignore-signal block-signal",
  split: "filter",
  xargs: "arg-file replace delimiter",
  awk: "file source include load exec assign",
  make: "eval file makefile directory include-dir",
  psql: "command file output log-file",
  mysql: "execute init-command pager tee",
  npm: "script-shell node-options prefix registry userconfig",
  pip: "index-url extra-index-url trusted-host target",
  gpg: "export-secret-keys export-secret-subkeys delete-secret-keys delete-keys",
  cp: "recursive target-directory",
  install: "target-directory directory",
  mv: "target-directory",
  ln: "symbolic force target-directory",
  tee: "append",
  truncate: "size",
  shred: "remove",
  chmod: "recursive reference",
  chown: "recursive reference",
  cpio: "rsh-command extract directory",
  grep: "file recursive",
  man: "pager html",
  systemctl: "force",
  su: "command",
  script: "command",
};

const SAME: Readonly<Record<string, string>> = {
  gtar: "tar",
  gsed: "sed",
  gsort: "sort",
  gsplit: "split",
  gawk: "awk",
  gmake: "make",
  mariadb: "mysql",
  pip3: "pip",
  gpg2: "gpg",
  genv: "env",
  egrep: "grep",
  fgrep: "grep",
  chgrp: "chown",
};

interface Names {
  readonly meant: readonly string[];
  readonly own: ReadonlySet<string>;
}

const compiled = new Map<string, Names>();

function namesOf(program: string): Names | undefined {
  const key = SAME[program] ?? program;
  const list = Object.hasOwn(LONG_NAMES, key) ? LONG_NAMES[key] : undefined;
  if (list === undefined) return undefined;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  const all = list.split(" ");
  const names = {
    meant: all.filter((name) => !name.startsWith("!")),
    own: new Set(all.map((name) => name.replace("!", ""))),
  };
  compiled.set(key, names);
  return names;
}

/** The words with shortened long options written out. A beginning that fits nothing stays as it is. */
export function wholeOptions(program: string, args: readonly ShellWord[]): readonly ShellWord[] {
  return program === "wget" ? withSettings(wholeNames(program, args)) : wholeNames(program, args);
}

/** `wget -e output_document=X` is `wget --output-document=X`: lines of its settings, given as words. */
function withSettings(args: readonly ShellWord[]): readonly ShellWord[] {
  const isOption = ({ text }: ShellWord): boolean => /^(?:-[a-zA-Z]*e|--execute)$/.test(text);
  return args.flatMap((word, index) => {
    const before = args[index - 1];
    const given =
      before !== undefined && isOption(before)
        ? word.text
        : /^(?:--execute=|-[qNcr]*e(?=\w+\s*=))(.+)$/s.exec(word.text)?.[1];
    const [, name, value] = /^\s*(\w+)\s*=\s*(.*)$/s.exec(given ?? "") ?? [];
    if (name !== undefined) return [{ ...word, text: `--${name.replaceAll("_", "-")}=${value}` }];
    return isOption(word) && args[index + 1] !== undefined ? [] : [word];
  });
}

function wholeNames(program: string, args: readonly ShellWord[]): readonly ShellWord[] {
  if (!args.some(({ text }) => text.startsWith("--") && text.length > 2)) return args;
  const names = namesOf(program);
  if (names === undefined) return args;
  const end = args.findIndex(({ text }) => text === "--");
  return args.map((word, index) => {
    const match = end >= 0 && index > end ? null : /^--([a-z][\w-]+)(=[\s\S]*)?$/.exec(word.text);
    const given = match?.[1];
    if (given === undefined || names.own.has(given)) return word;
    // One that fits several is refused by the program itself.
    const meant = names.meant.find((name) => name.startsWith(given));
    return meant === undefined ? word : { ...word, text: `--${meant}${match?.[2] ?? ""}` };
  });
}
