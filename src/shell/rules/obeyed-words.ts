import { isStandardInput } from "../code/inline.js";
import { languageOf } from "../code/languages.js";
import type { SimpleCommand } from "../types.js";

/**
 * Words that name a file whose text a program does what it says: makefiles, scripts of editors and debuggers, playbooks,
 * files of settings that can name programs.
 */
const OPTIONS: Readonly<Record<string, RegExp>> = {
  ...forAll(
    "make gmake ninja just task rake remake bmake mk scons invoke nox tup waf",
    /^(?:-f|--file|--makefile|--justfile|--taskfile|--rakefile|-t)$/,
  ),
  ...forAll("vim vi nvim ex gvim view vimdiff", /^(?:-S|-u|-U|-s|-w)$/),
  ...forAll("gdb lldb cgdb rr", /^(?:-x|-ix|--command|-s|-S|--source|--init-command)$/),
  ...forAll("emacs xemacs", /^(?:-l|--load|--script|-x)$/),
  ...forAll("awk gawk mawk nawk sed gsed", /^(?:-f|--file|-i|--include|-E|--exec)$/),
  ...forAll("psql pgcli usql duckdb", /^(?:-f|--file|-init|--init)$/),
  ...forAll("tmux screen byobu zellij", /^(?:-f|-c|--config|--layout|source|source-file)$/),
  ...forAll("curl wget wget2 aria2c", /^(?:-K|--config|--conf-path)$/),
  ...forAll("ssh scp sftp", /^-F$/),
  ...forAll("logrotate supervisord mkdocs", /^(?:-[cdfs]|--config-file|--configuration)$/),
  ...forAll("bash zsh ksh dash sh fish", /^(?:--rcfile|--init-file|-o)$/),
  ...forAll(
    "mutt neomutt msmtp fetchmail getmail offlineimap procmail ltrace lua luajit perf",
    /^(?:-F|-f|-C|-r|--file|-m)$/,
  ),
  ...forAll("docker docker-compose podman podman-compose nerdctl", /^(?:-f|--file)$/),
  ...forAll("cmake ctest", /^(?:-P|-S|-C)$/),
  ...forAll(
    "gradle gradlew mvn mvnw ant sbt",
    /^(?:-I|--init-script|-b|-s|-f|--file|-buildfile|--settings)$/,
  ),
  ...forAll("nmap mpv wireshark tshark pandoc", /^(?:--script|-X|--lua-filter|-L|-F|--filter)$/),
  ...forAll("ld gcc g++ clang", /^(?:-T|-specs|-fplugin)$/),
};
/** Programs that obey the file they are given as an operand. */
const OPERANDS: ReadonlySet<string> = new Set(
  (
    "ansible-playbook gnuplot octave maxima gp sage expect tclsh wish source . at crontab terraform tofu packer kapitan " +
    "lua luajit php ruby perl python python3 node deno bun guile racket sbcl clisp elixir julia rscript groovy jshell swift ghci runghc " +
    "bash sh zsh ksh dash fish csh tcsh nginx haproxy supervisord dnsmasq conky nft iptables-restore ed ex bc dc m4 gs " +
    "troff groff latex pdflatex xelatex lualatex tex sqlplus ftp lftp sftp telnet"
  ).split(" "),
);

/** Whether a program obeys the file it is given as an operand, and nobody reads that as a language elsewhere. */
export const obeysOperand = (program: string): boolean =>
  OPERANDS.has(program) && languageOf(program) === undefined;

function forAll(programs: string, options: RegExp): Record<string, RegExp> {
  return Object.fromEntries(programs.split(" ").map((program) => [program, options]));
}

/** Options of a program behind which a file stands that it obeys. */
export const obeyedOptions = (program: string): RegExp | undefined =>
  Object.hasOwn(OPTIONS, program) ? OPTIONS[program] : undefined;

/** Verbs with which a lone `-` is a file that is obeyed. */
const BUILDS = /^(?:docker|podman|buildah|nerdctl)$/;

/** Whether a program does what its standard input says: `make -f -`, `docker build -`, `ansible-playbook /dev/stdin`. */
export function obeysInput(command: SimpleCommand): boolean {
  const { program, args } = command;
  if (command.input.kind === "none") return false;
  const options = obeyedOptions(program) ?? (/^(?:kubectl|oc|helm)$/.test(program) ? MANIFESTS : undefined);
  const isObeyed = obeysOperand(program);
  const builds = BUILDS.test(program) && args.some(({ text }) => /^(?:build|bud)$/.test(text));
  return args.some((word, index) => {
    const [, name = "", value = word.text] = /^(--?[\w-]+)=(.*)$/s.exec(word.text) ?? [];
    if (/^-f-$/.test(word.text)) return options?.test("-f") === true;
    if (!isStandardInput({ ...word, text: value })) return false;
    return builds || isObeyed || options?.test(name === "" ? (args[index - 1]?.text ?? "") : name) === true;
  });
}
const MANIFESTS = /^(?:-f|--filename|--values)$/;
