import { inlineCode } from "../code/inline.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { type Condition, names, subject } from "./row.js";

const SOMEBODYS = "installs code from the repository of somebody, whatever lies there now";

/**
 * Whose repositories are installed from every day. What a project's own files name is none of this: only an address in the
 * line itself counts.
 */
const KNOWN_OWNERS = names(
  // Houses and foundations
  "google googleapis google-research google-deepmind deepmind googlecloudplatform microsoft azure aws awslabs amazon-science apple meta " +
    "facebook facebookresearch facebookincubator meta-llama openai anthropics huggingface nvidia nvlabs nvidia-nemo intel amd rocm ibm " +
    "oracle redhat salesforce adobe netflix uber uber-go airbnb spotify shopify stripe twilio github gitlab gitlab-org cli actions docker " +
    "moby hashicorp kubernetes kubernetes-sigs helm cncf apache elastic grafana prometheus mongodb redis postgres postgresml supabase " +
    "vercel netlify cloudflare heroku digitalocean fly-apps superfly pulumi datadog sentry getsentry jetbrains mozilla wikimedia " +
    // Languages and their frameworks
    "python pypa psf pallets django encode fastapi tiangolo pydantic astral-sh numpy scipy pandas-dev matplotlib scikit-learn sympy " +
    "jupyter jupyterlab ipython pytest-dev pycqa python-poetry sqlalchemy psycopg aio-libs celery scrapy bokeh plotly dask ray-project " +
    "pytorch tensorflow keras-team jax-ml lightning-ai onnx triton-lang vllm-project sgl-project ggml-org ggerganov abetlen unslothai " +
    "axolotl-ai-cloud eleutherai bigscience-workshop mosaicml databricks mlflow wandb langchain-ai run-llama deepset-ai stanfordnlp " +
    "stanfordcrfm allenai explosion openmmlab open-mmlab ultralytics roboflow kornia rwightman lucidrains compvis stability-ai " +
    "black-forest-labs karpathy tatsu-lab lm-sys lmstudio-ai gradio-app streamlit scverse nodejs npm expressjs facebook reactjs vuejs nuxt " +
    "sveltejs angular remix-run solidjs withastro vitejs vitest-dev rollup webpack babel eslint prettier typescript-eslint biomejs " +
    "denoland oven-sh socketio nestjs prisma drizzle-team trpc tanstack storybookjs jestjs mochajs puppeteer cypress-io electron expo " +
    "react-native-community software-mansion ionic-team capacitor-community rust-lang tokio-rs serde-rs actix rustwasm bevyengine " +
    "tauri-apps burntsushi dtolnay clap-rs sharkdp golang golangci grpc protocolbuffers grpc-ecosystem bufbuild golang-migrate " +
    "pressly swaggo sqlc-dev vektra onsi air-verse cosmtrek go-delve securego mvdan dominikh charmbracelet magefile go-task goreleaser " +
    "a-h templ-go deepmap oapi-codegen ogen-go 99designs ent matryer gotestyourself gohugoio air anchore aquasecurity sigstore " +
    "terraform-docs joho cue-lang spf13 stretchr gin-gonic gorilla labstack gofiber rakyll tsenart mikefarah junegunn jesseduffield " +
    "rails ruby rubocop rspec heartcombo sinatra hanami jekyll laravel symfony composer phpunit phpstan doctrine slimphp " +
    "elixir-lang phoenixframework elixir-ecto hexpm erlang r-lib tidyverse rstudio ropensci r-dbi rcpp satijalab bioconductor " +
    "hadley yihui julialang juliadata fluxml scala sbt jvm-builders dotnet swiftlang apple vapor flutter dart-lang dlang nim-lang " +
    "crystal-lang ziglang haskell ocaml clojure leiningen elm gleam-lang luarocks neovim vim " +
    // Tools and taps
    "kisielk volatiletech google-wire segmentio mgechev daixiang0 incu6us client9 dmarkham alvaroloes abice maxbrunsfeld " +
    "evilmartians jstemmer axw boumenot nishanths fatih rogpeppe josharian projectdiscovery reviewdog haya14busa " +
    "wailsapp fyne-io ory openapitools uudashr rubenv kyleconroy ramya-rao-a cweill " +
    "homebrew asdf-vm jdx mise-plugins pre-commit ohmyzsh zsh-users romkatv jorgebucaran folke tmux-plugins derailed fluxcd argoproj " +
    "istio cilium linkerd k3d-io kubernetes-krew ahmetb databus23 jkroepke chartmuseum aws-cloudformation localstack bazelbuild " +
    "conan-io cmake ninja-build mesonbuild opencv ultralytics qmk zmkfirmware platformio esp8266 espressif arduino raspberrypi",
);

const FORGES =
  "(?:www\\.|raw\\.|codeload\\.|gist\\.)?(?:github|githubusercontent|gitlab|bitbucket|codeberg)\\.(?:com|org)|gist\\.githubusercontent\\.com|git\\.sr\\.ht";
const ADDRESS = new RegExp(
  `(?:(?:https?|ssh|git):\\/\\/(?:[^/@\\s]*@)?|git@|(?:^|["'\\s]))(?:${FORGES})[/:]~?([\\w.-]+)\\/|\\b(?:github|gitlab|bitbucket|gist):([\\w.-]+)\\/`,
  "i",
);
const SHORT = /^(?:(?:@[\w-]+\/)?[\w.-]+@)?([\w-][\w.-]*)\/[\w.-]+(?:#.*)?$/;
const TAP = /^([\w-]+)\/[\w-]+(?:\/[\w@.+-]+)?$/;

const INSTALLERS = names(
  "pip pip3 uv uvx pipx poetry pdm rye hatch pipenv conda mamba micromamba npm pnpm yarn bun cargo gem bundle go brew rscript r julia composer luarocks " +
    "mix nimble dart flutter swift opam cabal stack vcpkg conan helm kubectl krew kubectl-krew asdf mise zplug zinit fisher omf antigen antibody sheldon " +
    "zef raco cpanm cpm dub shards haxelib pod jpm spack code tpm shard rebar3 lein deno easy_install",
);
const INSTALLS =
  /^(?:i|in|install|add|get|require|tap|run|tool|pin|activate|specific_install|archive\.install|escript\.install|plugin|plugins|plugin-add|add-port|add-dependency|global|inject|upgrade|git|light|load|bundle|build|binstall|develop|sync|krew|pub|port)$/;
/** Managers for which `owner/repo` alone is a place on a forge. */
const SHORT_NAMES = /^(?:npm|pnpm|yarn|bun|zplug|zinit|fisher|omf|antigen|antibody|sheldon|nimble|tpm)$/;
const IN_CODE =
  /\binstall_(?:github|gitlab|bitbucket|git)\s*\(\s*["']([^"'/]+)\/|\b(?:Pkg\.)?(?:add|develop)\s*\(\s*url\s*=\s*"([^"]+)"|\bpak\s*\(\s*["'](?:github::)?([\w.-]+)\//;

const ownerIn = (text: string): string | undefined => {
  const [, owner, short] = ADDRESS.exec(text) ?? [];
  return owner ?? short;
};

function isStranger(owner: string | undefined): boolean {
  return owner !== undefined && !KNOWN_OWNERS.has(owner.toLowerCase());
}

/** The words of a package manager, also behind `python -m`. */
function installerOf({
  program,
  args,
}: SimpleCommand): { readonly manager: string; readonly words: readonly ShellWord[] } | undefined {
  if (INSTALLERS.has(program)) return { manager: program, words: args };
  const isModule =
    /^py(?:thon[\d.]*)?$/.test(program) && args[0]?.text === "-m" && INSTALLERS.has(args[1]?.text ?? "");
  return isModule ? { manager: args[1]?.text ?? "", words: args.slice(2) } : undefined;
}

const installsSomebodys: Condition = ({ command }) => {
  const found = installerOf(command);
  if (found === undefined) return undefined;
  const { manager, words } = found;
  const code = /^(?:rscript|r|julia)$/.test(manager) ? inlineCode(command)?.texts : undefined;
  if (code !== undefined)
    return code.find(({ text }) => {
      const [, owner, address, pak] = IN_CODE.exec(text) ?? [];
      return isStranger(address === undefined ? (owner ?? pak) : ownerIn(address));
    });
  const namesOnly = /^(?:uvx|zplug)$/.test(manager);
  const at = words.findIndex(({ text }) => !text.startsWith("-"));
  const verbs = words.filter(({ text }) => !text.startsWith("-")).slice(0, 3);
  if (!namesOnly && !verbs.some(({ text }) => INSTALLS.test(text))) return undefined;
  // A library that code of the project imports is what every project is made of.
  if (manager === "go" && verbs[0]?.text === "get") return undefined;
  return words.find((word, index) => {
    if (index <= at && !namesOnly) return false;
    const { text } = word;
    const before = words[index - 1]?.text ?? "";
    const address = ownerIn(text);
    if (manager === "go" && !text.includes("@")) return false;
    if (address !== undefined)
      return !/^--?(?:index|registry|find-links|f|i|extra-index)/.test(before) && isStranger(address);
    if (/^(?:--github|github)$/.test(before) || (manager === "gem" && verbs[0]?.text === "specific_install"))
      return isStranger(SHORT.exec(text)?.[1]);
    if (manager === "brew") return isStranger(TAP.exec(text)?.[1]);
    if (!SHORT_NAMES.test(manager) || /^(?:run|exec|test|build|pub)$/.test(verbs[0]?.text ?? ""))
      return false;
    const isValue =
      /^-/.test(before) && !/^-(?:[a-zA-Z]|-save(?:-\w+)?|-global|-no-save|-force)$/.test(before);
    return !isValue && !/\.(?:tgz|tar\.gz|js|json|rb)$/.test(text) && isStranger(SHORT.exec(text)?.[1]);
  });
};

/** Packages that come from nobody's registry but from a repository that the line itself names. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("package-server", [
  { program: "*", when: installsSomebodys, rule: "remote-code.package", reason: SOMEBODYS,
    match: ["pip install 'git+https://github.com/x0r-helper/requests-fast@main'", "python3 -m pip install https://github.com/nobody77/p/archive/main.zip", "npm i nobody77/fast", "yarn add github:nobody77/x",
      "bundle add x --github nobody77/x", "gem specific_install nobody77/gem", "brew install nobody77/tap/tool", "go install github.com/nobody77/tool@latest", "go run github.com/nobody/x@latest", "Rscript -e 'remotes::install_github(\"nobody77/pkg\")'",
      "uv tool install git+https://github.com/nobody77/tool", "cargo add --git https://github.com/nobody77/lib lib", "helm plugin install https://github.com/nobody77/helm-x"],
    not_match: ["pip install -r requirements.txt", "pip install git+https://github.com/huggingface/transformers", "npm i @acme/ui", "npm install ./packages/core", "brew install hashicorp/tap/terraform",
      "go install golang.org/x/tools/gopls@latest", "Rscript -e 'remotes::install_github(\"r-lib/devtools\")'", "npm run build src/app", "go get github.com/nobody77/lib", "poetry add requests"] },
]);
