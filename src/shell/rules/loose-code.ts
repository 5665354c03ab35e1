import { languageOf } from "../code/languages.js";
import type { ShellWord } from "../types.js";
import { isForeign } from "./addresses.js";
import { HANDLES_FILES } from "./data-programs.js";
import { obeyedOptions, obeysOperand } from "./obeyed-words.js";
import { isDownloadPlace, isHiddenThere } from "./places.js";
import { type Condition, names, subject } from "./row.js";
import { handlesLibrary } from "./starters.js";

const LOADS = "loads code or settings from a place anybody can write";
const HIDES = "hands a hidden file, from a place anybody can write, to a program that may run it";

const LOADING_OPTION =
  /^--?(?:[\w-]+-)?(?:plugins?|modules?|engine|extensions?|load|preload|library|provider|hooks?|require|agent|scripts?|rules|addons?|init|initfile|rcfile|userscript|autoload|bootstrap|inject|loader|preloader|config|conf|cfg|kubeconfig|inventory|settings|lesskey(?:-src|-file)?|classpath|rc|profile|defaults|processor|doclet|taglet|python|class|on-[\w-]+|callback|pager|editor|viewer|browser|opener|action|askpass|downloader|compress-program|to-command|exec|execute|cmd|command)(?:-?(?:dir|path|file|script|lib|library|from))?(?==|$)/i;
/** Of these, the ones behind which code stands whatever the file is called. */
const CODE_OPTION = /^--(?:plugins?|require|preload|loader|init-script|initfile|rcfile|userscript|hooks?)$/;
/** Options behind which something is written or kept: nothing of it is obeyed. */
const KEEPS =
  /^--?(?:o|O|[\w-]*(?:out|log|cache|te?mp|dest|target|report|junit|xml|cov|save|dump|write|pid|sock|lock|store|data|db|state|hist|prefix|export|record|trace|artifact|screenshot|stdin|download)[\w-]*)$/i;
const CODE =
  /\.(?:[cm]?[jt]sx?|pyz?|rb|lua|pl|pm|php|sh|bash|el|vim|scm|jl|r|groovy|gradle|jar|exs?|tcl|nf|so|dylib|dll|wasm)$/i;
const SETTINGS = /\.(?:ya?ml|toml|json5?|ini|cfg|conf|neon|hcl|xml|rc)$/i;

/** What a word names, and the option it stands behind: `--opt=PATH`, `--opt PATH`, `-oPATH`. */
function named(given: ShellWord, before: string): { readonly option: string; readonly path: ShellWord } {
  // `--exec before_dl:/tmp/x` says when besides what.
  const when = /^-/.test(before) ? /^[a-z][\w-]*:(?=[/~][^/])/.exec(given.text)?.[0] : undefined;
  const word = when === undefined ? given : { ...given, text: given.text.slice(when.length) };
  const [, option, value] = /^(--?[\w.-]+)[=:](.+)$/s.exec(word.text) ?? [];
  if (option !== undefined && value !== undefined) return { option, path: { ...word, text: value } };
  if (/^-\w[/~]/.test(word.text))
    return { option: word.text.slice(0, 2), path: { ...word, text: word.text.slice(2) } };
  // `-o pythonpath=/tmp`: the option takes settings, and this one has a name.
  const [, setting, path] = /^-/.test(before) ? (/^([a-z][\w.-]*)=([/~].*)$/s.exec(word.text) ?? []) : [];
  if (setting !== undefined && path !== undefined)
    return { option: `--${setting}`, path: { ...word, text: path } };
  // What has its value already takes no other.
  return { option: /^--?[a-zA-Z][^=]*$/.test(before) ? before : "", path: word };
}

const isPlain = (program: string): boolean =>
  program === "" || HANDLES_FILES.has(program) || languageOf(program) !== undefined;

/** `viztracer /tmp/.v.py`, `celery --workdir /tmp/.c worker`, `uvicorn --app-dir /dev/shm/u m:app`. */
const handsHidden: Condition = ({ args, command: { program } }) =>
  isPlain(program)
    ? undefined
    : args.find((word, index) => {
        if (!word.text.includes("/.") && !word.text.includes("/shm/")) return false;
        const { option, path } = named(word, args[index - 1]?.text ?? "");
        return !KEEPS.test(option) && (isHiddenThere(path) || /^\/(?:dev|run)\/shm\/./.test(path.text));
      });

/** An option whose name says that it loads code, or whose value is plainly code or settings, from such a place. */
const loadsAnywhere: Condition = ({ args, command: { program } }) =>
  args.length === 0 || handlesLibrary(program)
    ? undefined
    : args.find((word, index) => {
        if (!word.text.includes("/") || !/^[-/~$]|^https?:|^[a-z][\w.-]*[=:][/~]/.test(word.text))
          return false;
        const { option, path } = named(word, args[index - 1]?.text ?? "");
        if (option !== "" && isForeign(path.text))
          return CODE_OPTION.test(option) || (CODE.test(path.text) && LOADING_OPTION.test(option));
        if (option === "" || !isDownloadPlace(path)) return false;
        // The options of a script are its own: `python3 a.py --config /tmp/a.json` reads settings.
        if (LOADING_OPTION.exec(option)?.[0] === option)
          return languageOf(program) === undefined || !/\.(?:json|ya?ml|toml|ini|csv|txt)$/.test(path.text);
        if (KEEPS.test(option) || isPlain(program)) return false;
        return CODE.test(path.text) || (/^-[cC]$/.test(option) && SETTINGS.test(path.text));
      });

/** Programs that only turn files of the project into others: what they print was written by somebody who could be asked. */
const TURNS_FILES = names(
  "cat sed gsed awk gawk grep jq yq sort uniq head tail cut tr envsubst kustomize helm kubectl git openssl sops gpg age dhall jsonnet cue ytt",
);
/** `pandoc --lua-filter=<(echo …)`, `redis-cli --eval <(echo …)`: code or settings that the line itself makes up. */
const obeysMadeUp: Condition = ({ args, command: { program } }) =>
  args.find((word, index) => {
    if (word.outputs === undefined || !word.text.includes("/fd/")) return false;
    const { option, path } = named(word, args[index - 1]?.text ?? "");
    if (!/^\/(?:dev|proc\/self)\/fd\/\d+$/.test(path.text)) return false;
    if (word.outputs.every((producer) => TURNS_FILES.has(producer.program))) return false;
    if (option === "" || /^(?:-[a-zA-Z]|--?(?:check|diff|verbose|quiet|become))$/.test(option))
      return (
        obeysOperand(program) || (!DATA_FILES.test(program) && obeyedOptions(program)?.test(option) === true)
      );
    return MADE_UP.test(option) || LOADING_OPTION.exec(option)?.[0] === option;
  });
const MADE_UP =
  /^--?(?:[\w-]+-)?(?:eval|filter|playbook|policy|recipe|makefile|justfile|jobs?|workflow|pipeline|startup)(?:-file)?$/;

/** What these are given to obey works on data, or is looked at where it was written. */
const DATA_FILES =
  /^(?:psql|pgcli|usql|duckdb|g?sed|[gmn]?awk|docker|docker-compose|podman|podman-compose|nerdctl|ssh|scp|sftp|ld|gcc|g\+\+|clang|(?:ba|z|k|da|fi)?sh)$/;

/** `gdb --command=/tmp/x`, `mutt -F /tmp/x`, `make -f /tmp/x`: files that a program does what they say. */
const obeysLoose: Condition = ({ args, command: { program } }) => {
  const options = DATA_FILES.test(program) ? undefined : obeyedOptions(program);
  if (options === undefined) return undefined;
  return args.find((word, index) => {
    const { option, path } = named(word, args[index - 1]?.text ?? "");
    return options.test(option) && (isDownloadPlace(path) || isForeign(path.text));
  });
};

/** Programs that run the first file or folder they are given. */
const RUNS =
  "run-parts|viztracer|scalene|kernprof|pyinstrument|memray|hyperfine|bats|nextflow|snakemake|streamlit|papermill|voila|nodemon|pm2|forever|karma|cucumber|behave|robot|locust|fab|coffee|lsc|swipl|gforth|janet|fennel|gosh|csi|hy|nu|elvish|osh|escript|crystal|nim|dart|v|vala|haxe|mpremote|ampy|k6|newman|step-cli|inetd|xinetd|sysctl|gdbserver|qemu-x86_64|wine|mono";
const runsOperand: Condition = ({ args }) =>
  args.find((word) => word.text.startsWith("/") && isDownloadPlace(word));

/** Code from places that everybody can write, in the words of any program. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("starter", [
  { program: "*", when: handsHidden, rule: "starter.hidden-file", reason: HIDES,
    match: ["viztracer /tmp/.v.py", "celery -A a --workdir /var/tmp/.c worker", "mytool -f/dev/shm/x"],
    not_match: ["jq . /tmp/.a.json", "mytool --cache-dir=/tmp/.c", "pytest --basetemp=/tmp/.p", "rm -f /tmp/.lock"] },
  { program: "*", when: loadsAnywhere, rule: "starter.foreign-code", reason: LOADS,
    match: ["foo --plugin /tmp/x serve", "bar --script=/tmp/x.lua a", "mytool --modules-dir /var/tmp/x", "linter -r /tmp/x.rb", "linter -c /tmp/x.yml", "javac -processorpath /tmp/p.jar A.java", "pytest -o pythonpath=/tmp", "aria2c --on-download-complete=/tmp/h https://x.example/a", "yt-dlp --exec before_dl:/tmp/u https://x.example/1", "jest --config https://x.example/x.js", "linter --plugin https://x.example/p"],
    not_match: ["pytest -o pythonpath=src", "pytest -o cache_dir=/tmp/c", "docker run -e CONFIG=/tmp/x a", "foo --output /tmp/x", "foo --exec a:b /tmp/x", "semgrep --config https://x.example/r.yml .", "foo --script-url https://x.example/a", "foo --cache-dir /tmp/x", "foo --log-file=/tmp/x.log", "linter -o /tmp/x.js src", "ruff check /tmp/a.py", "linter --colors=off /tmp/a.ts"] },
  { program: "*", when: obeysLoose, rule: "starter.foreign-code", reason: LOADS,
    match: ["gdb --command=/tmp/x a", "mutt -F /tmp/x", "curl -K /tmp/x", "make -f /tmp/x.mk", "emacs -batch -l /tmp/x.el", "cmake -P /tmp/x.cmake", "gradle -I /tmp/x.gradle build", "gradle -I https://x.example/i.gradle build", "task -t https://x.example/T.yml", "just -f https://x.example/j", "vim -S https://x.example/x.vim"],
    not_match: ["psql -f /tmp/a.sql", "gdb -x cmds.gdb a", "make -f build/Makefile", "cmake -S . -B /tmp/b", "emacs --version"] },
  { program: "*", when: obeysMadeUp, rule: "starter.foreign-code", reason: "does what a file says that the line itself makes up",
    match: ["pandoc --lua-filter=<(echo x) a.md", "redis-cli --eval <(echo x)", "ansible-playbook -i prod <(printf x)", "foo --plugin <(echo x)", "kubectl --kubeconfig <(curl -s https://x.example/k) get pods", "mutt -F <(echo x)"],
    not_match: ["diff <(echo a) <(echo b)", "psql -f <(echo 'select 1')", "foo --config <(envsubst < a.tmpl)", "jq -s . <(echo 1) <(echo 2)", "comm -12 <(ls a) <(ls b)", "foo --input <(echo x)", "kubectl apply -f <(kustomize build .)"] },
  { program: "dpkg|apt|apt-get|dnf|yum|zypper|rpm|pacman|apk|snap|flatpak|gem|npm|pnpm|yarn|pip|pip3|pipx|cargo|conda", dry: "dry-run s", taking: "r requirement c constraint t target root prefix cache-dir", word: /^(?:install|add|-[a-zA-Z]*[iU][a-zA-Z]*|--install|localinstall|inject)$/,
    when: ({ operands }) => operands.find((word) => isDownloadPlace(word) && /\.\w+$/.test(word.text)), rule: "starter.foreign-code", reason: "installs a package from a place anybody can write",
    match: ["dpkg -i /tmp/x.deb", "pip install /tmp/x.whl"], not_match: ["pip install -r /tmp/req.txt", "apt-get install curl"] },
  { program: RUNS, dry: "", when: runsOperand, rule: "starter.foreign-code", reason: LOADS,
    match: ["run-parts /var/tmp/jobs.d", "bats /tmp/t.bats"], not_match: ["bats test", "run-parts ./jobs.d"] },
]);
