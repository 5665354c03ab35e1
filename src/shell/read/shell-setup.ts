import type { SimpleCommand } from "../types.js";

/** Programs whose output is meant for `eval`: they print settings for the shell they are started from. */
const ALWAYS = new Set("ssh-agent gpg-agent dircolors lesspipe lessfile resize keychain".split(" "));
const TOOLS = new Set(
  (
    "direnv brew pyenv rbenv nodenv goenv jenv plenv fnm nvm starship zoxide mise rtx asdf conda mamba micromamba opam " +
    "minikube docker-machine pip kubectl helm gh luarocks rustup thefuck atuin fzf register-python-argcomplete npm pnpm " +
    "poetry uv ng kind k3d flux argocd terraform vault hugo deno bun volta pdm hatch just task chezmoi navi mcfly op"
  ).split(" "),
);
const SETUP_VERB =
  /^(?:init|hook|env|shellenv|activate|completions?|shell\.\w+|shell|docker-env|path|virtualenv-init|--(?:alias|bash|zsh|init|path|completion))$/;

/** True when all of a text comes from programs that prepare a shell: `eval "$(direnv hook bash)"`. */
export function preparesShell(from: readonly SimpleCommand[] | undefined): boolean {
  return from !== undefined && from.length > 0 && from.every(isSetup);
}

function isSetup({ program, args, wrappers }: SimpleCommand): boolean {
  if (wrappers.some(({ kind }) => kind === "remote" || kind === "container")) return false;
  if (ALWAYS.has(program)) return true;
  return TOOLS.has(program) && args.slice(0, 2).some((word) => SETUP_VERB.test(word.text));
}
