import type { Rule, ShellWord } from "../types.js";
import { danger } from "./row.js";

/**
 * Tools that no other family knows. Their sub-commands are English verbs: one that destroys, in front of a thing
 * to be destroyed, needs no table to be understood.
 */

const DESTROYS =
  /^(?:(?:[a-z0-9_.]+[:-])?(?:delete|destroy|purge|wipe|erase|nuke|obliterate|uninstall|deprovision|decommission|teardown|flushall|factory-reset)(?:[:-](?:all|[a-z]+))?|drop-(?:all|db|database|table|tables)|force-(?:delete|destroy|remove)|remove-all|delete_all|remove_all|destroy_all|drop_all)$/;
/** With these only together with an option that forbids questions, or one that means everything. */
const REMOVES = /^(?:rm|remove|drop|reset|prune|terminate|shutdown|gc|clear|evict|revoke|clean)$/;
const INSISTS =
  /^(?:-f|-y|-yf|-fy|--force|--yes|--all|--assume-yes|--no-confirm|--no-prompt|--auto-approve|--purge|--hard|--cascade|--non-interactive|--skip-confirmation)$/;
/** What follows one of these is the name of something to look at, make or search for. */
const LOOKS =
  /^(?:get|list|ls|show|describe|status|help|search|find|info|view|inspect|explain|add|create|new|init|run|test|exec|logs?|print|watch|query|lookup|define)$/;
const WORD = /^[a-z][a-z0-9_:-]{0,40}$/;
/** How many words deep a sub-command may stand: `cli db users delete x`. */
const DEEPEST = 4;

/** Programs whose operands are files, text, patterns, tests or names of tasks. */
const TAKES_DATA = new Set(
  (
    "echo printf print cat tac nl head tail less more most bat ls exa eza lsd tree cd pushd popd pwd mkdir touch stat file wc sort " +
    "uniq cut paste tr rev column fold fmt comm diff cmp sdiff colordiff delta grep egrep fgrep rg ag ack jq yq xq sed awk gawk " +
    "perl python ruby node deno bun php lua make gmake just task rake ninja cmake meson bazel buck gradle mvn ant sbt gulp grunt " +
    "nx turbo npm npx yarn pnpm jest vitest mocha ava tap pytest tox nox unittest rspec phpunit ctest cypress playwright karma " +
    "cargo go rustc gcc clang javac tsc eslint prettier biome ruff black mypy flake8 pylint shellcheck man tldr info help whatis " +
    "apropos which whereis type command hash test [ [[ true false : export declare typeset local readonly read set unset alias " +
    "unalias source . eval exec trap wait sleep date cal seq yes expr bc dc basename dirname realpath readlink mktemp env which " +
    "vim vi nvim nano emacs code subl open xdg-open start look spell aspell dict say figlet cowsay banner toilet espeak logger " +
    "notify-send tee xargs find fd locate mdfind curl wget http https xh git hg svn gh glab ssh scp rsync tar zip unzip gzip cp " +
    "mv ln rm install chmod chown id whoami who w ps top htop kill tmux screen watch time timeout nohup sudo doas su env docker " +
    "podman kubectl helm terraform aws gcloud az psql mysql sqlite3 redis-cli mongosh compgen complete bind fzf sk dmenu rofi " +
    "pandoc latex pdflatex convert magick ffmpeg sox dot gnuplot trans translate wn ollama llm claude codex aider gemini gpt chatgpt cursor"
  ).split(" "),
);

export function unknownTools(known: ReadonlySet<string>): Rule {
  return ({ program, name, args }) => {
    if (args.length === 0 || known.has(program) || TAKES_DATA.has(program)) return undefined;
    if (!/^[a-z][a-z0-9_.-]{1,30}$/.test(program) || /\.(?:sh|py|js|ts|rb|pl)$/.test(program))
      return undefined;
    if (name.text.includes("/") || /^(?:python|perl|ruby|node|php|lua)[\d.]*$/.test(program))
      return undefined;
    if (
      args.some(({ text }) =>
        /^(?:--?help|-h|--version|--dry-run|--dryrun|-n|--whatif|--preview|--plan)$/.test(text),
      )
    )
      return undefined;
    const verb = destroyingVerb(args);
    return verb === undefined
      ? undefined
      : danger("unknown-tool.destroy", "tells a tool to delete or destroy something", verb);
  };
}

function destroyingVerb(args: readonly ShellWord[]): ShellWord | undefined {
  const insists = args.some(({ text }) => INSISTS.test(text));
  for (let at = 0; at < Math.min(args.length, DEEPEST); at++) {
    const word = args[at] as ShellWord;
    if (!WORD.test(word.text) || LOOKS.test(word.text)) return undefined;
    const aims = at + 1 < args.length;
    if (DESTROYS.test(word.text) && (aims || at > 0 || /[:-]/.test(word.text))) return word;
    if (REMOVES.test(word.text) && insists) return word;
  }
  return undefined;
}
