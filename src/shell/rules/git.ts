import type { ShellWord, SimpleCommand } from "../types.js";
import { isForeignRepository } from "./addresses.js";
import { isCommandAddress, isPlainProgram, riskOfSetting } from "./git-settings.js";
import { isCredentialFile } from "./places.js";
import { type Condition, names, subject } from "./row.js";

const DISCARDS = "throws away changes that are not committed";
const REWRITES = "rewrites or drops history others may have";
const OVERWRITES = "overwrites history on the remote";
const DELETES_BRANCH = "deletes branches on the remote";
const PASSWORD = "prints a stored password";
const UNREACHABLE = "deletes commits that nothing points to";
const STARTS = "names a program that git starts";
const NETWORK_TAKING = "upload-pack o j jobs depth refmap s strategy X";

const GLOBALS_TAKING = names(
  "-C -c --git-dir --work-tree --namespace --super-prefix --config-env --attr-source",
);

/** What stands in front of the sub-command: where it is, and the settings given for this one call. */
function readGlobals(args: readonly ShellWord[]): {
  readonly settings: readonly ShellWord[];
  readonly verb: number;
} {
  const settings: ShellWord[] = [];
  let index = 0;
  for (; index < args.length; index++) {
    const word = args[index] as ShellWord;
    const { text } = word;
    if (!text.startsWith("-")) break;
    if (text.startsWith("--config-env=")) settings.push({ ...word, text: text.slice(13) });
    if (!GLOBALS_TAKING.has(text)) continue;
    const value = args[++index];
    if ((text === "-c" || text === "--config-env") && value !== undefined) settings.push(value);
  }
  return { settings, verb: index };
}

/** `git -C x push …` is a call of `git push`, which has options of its own. */
function subCommand(command: SimpleCommand): SimpleCommand | undefined {
  const { verb } = readGlobals(command.args);
  const name = command.args[verb];
  return name === undefined
    ? undefined
    : { ...command, program: `git ${name.text}`, name, args: command.args.slice(verb + 1) };
}

function riskyAmong(settings: readonly ShellWord[]): ReturnType<Condition> {
  for (const word of settings) {
    const cut = word.text.indexOf("=");
    const name = cut < 0 ? word.text : word.text.slice(0, cut);
    const reason = riskOfSetting(name, cut < 0 ? "true" : word.text.slice(cut + 1));
    if (reason !== undefined) return { word, reason };
  }
  return undefined;
}

const PROGRAM_VARIABLES = names(
  "GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND",
);
const programVariable: Condition = ({ command: { assignments } }) => {
  const found = assignments.find(
    ({ name, value }) => PROGRAM_VARIABLES.has(name) && !isPlainProgram(value.text),
  );
  return found && { word: found.value, reason: `makes git run another program through ${found.name}` };
};
const settingVariable: Condition = ({ command: { assignments } }) =>
  assignments.find(({ name }) => /^GIT_CONFIG_(?:COUNT|KEY_\d+|PARAMETERS)$/.test(name))?.value;
const certificatesOff: Condition = ({ command: { assignments } }) =>
  assignments.find(({ name, value }) => name === "GIT_SSL_NO_VERIFY" && !/^(?:0|false|)$/i.test(value.text))
    ?.value;

/** The setting that `git config` is told to write, as name and value. */
const written: (call: Parameters<Condition>[0]) => readonly ShellWord[] = ({ operands }) => {
  const [first] = operands;
  if (/^(?:get|list|unset|edit|rename-section|remove-section)$/.test(first?.text ?? "")) return [];
  const pair = first?.text === "set" ? operands.slice(1, 3) : operands.slice(0, 2);
  return pair.length === 2 ? pair : [];
};

const PATH_LIKE =
  /^(?:\.{1,2}|\.{0,2}\/.*|.*\/|:\/.*|:\(.*|\*.*|.*\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|scala|lua|sh|md|rst|txt|json|ya?ml|toml|ini|cfg|conf|env|lock|xml|html?|s?css|less|vue|svelte|sql|csv|proto|gradle|tf|ipynb))$/;

/** `git checkout -- x`, `git checkout HEAD x`, `git checkout .`: files, not a branch. */
const checksOutFiles: Condition = (call) => {
  if (call.has("b", "B", "orphan", "p", "patch", "t", "track", "detach")) return undefined;
  if (call.has("pathspec-from-file")) return true;
  const dashes = call.args.findIndex(({ text }) => text === "--");
  if (dashes >= 0) return dashes < call.args.length - 1;
  const [first, second] = call.operands;
  return second !== undefined || (first !== undefined && PATH_LIKE.test(first.text));
};

const MAIN_BRANCH = /(?:^|:|\/)(?:main|master|trunk|prod|production|stable|release(?:[/-].*)?)$/;

/** An address in place of the name of a remote: one nobody set up here, or one with the password in it. */
const pushesElsewhere: Condition = (call) => {
  const target = call.given("repo")[0] ?? call.operands[0];
  if (target === undefined) return undefined;
  const carriesPassword = /^https?:\/\/[^/@:\uFFFC]*:[^/@\uFFFC]+@/i.test(target.text);
  return carriesPassword || isForeignRepository(target.text) ? target : undefined;
};

const program =
  (...options: readonly string[]): Condition =>
  (call) =>
    call.given(...options).find(({ text }) => !/^git[- ](?:upload|receive)-(?:pack|archive)$/.test(text));

/** Git, one tool for each sub-command: each has options of its own. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("git", [
  { program: "git", dry: "", carries: subCommand, not_match: ["abbr -a g git"], rows: [
    { when: ({ args }) => riskyAmong(readGlobals(args).settings), rule: "git.setting",
      reason: "makes git run a program later", match: ["git -c alias.x='!id' x"], not_match: ["git gc"] },
    { when: programVariable, rule: "git.program-variable", reason: "makes git run another program",
      match: ["GIT_PAGER='id; cat' git log"], not_match: ["git tag"] },
    { when: settingVariable, rule: "git.setting-variable",
      reason: "changes git settings through the environment",
      match: ["GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=/tmp/x git status"],
      not_match: ["git push"] },
    { when: certificatesOff, rule: "git.setting-variable", reason: "stops git checking certificates",
      match: ["GIT_SSL_NO_VERIFY=1 git clone https://x.example/r"], not_match: ["git add ."] },
    { when: ({ args }) =>
        args.some(({ text }) => text === "--help")
          ? undefined
          : args.slice(readGlobals(args).verb + 1).find(({ text }) => isCommandAddress(text)),
      rule: "git.command-address", reason: "uses a git address that runs a program",
      match: ["git clone 'ext::sh -c touch% /tmp/x'"], not_match: ["git reset"] },
  ] },
  { program: "git config", taking: "f file blob type default comment value url",
    dry: "get get-all get-regexp get-urlmatch get-color get-colorbool list l unset unset-all e edit remove-section rename-section show-origin show-scope name-only",
    not_match: ["git config --global http.proxy ''", "git config user.name 'A B'"], rows: [
    { when: (call) => {
          const [name, value] = written(call);
          const reason = riskOfSetting(name?.text ?? "", value?.text ?? "");
          return value === undefined || reason === undefined ? undefined : { word: name, reason };
        },
      rule: "git.setting", reason: "makes git run a program later",
      match: ["git config alias.x '!rm -rf y'"], not_match: ["git config --list"] },
    { options: "system", when: (call) => written(call)[0], rule: "git.system-setting",
      reason: "changes git for every user of the machine", match: ["git config --system user.name x"],
      not_match: ["git config core.hooksPath"] },
  ] },
  { program: "git clone",
    taking: "u upload-pack c config template o origin b branch depth j jobs filter reference separate-git-dir shallow-since",
    not_match: ["git clone git@github.com:acme/site.git", "git clone https://github.com/acme/site.git"],
    rows: [
    { when: program("upload-pack"), rule: "git.remote-program", reason: STARTS,
      match: ["git clone --upload-pack='sh -c x' a b"], not_match: ["git clone git@github.com:acme/site.git"] },
    { when: (call) => call.given("template").find(({ text }) => text !== ""), rule: "git.setting",
      reason: "copies hooks from elsewhere into the clone",
      match: ["git clone --template=/tmp/t https://x.example/r"],
      not_match: ["git clone https://github.com/acme/site.git"] },
    { when: (call) => call.given("u")[0], rule: "git.remote-program", reason: STARTS,
      match: ["git clone -u /tmp/x host:repo"],
      not_match: ["git clone --depth 1 -b main https://github.com/acme/site"] },
    { when: (call) => riskyAmong(call.given("c", "config")), rule: "git.setting",
      reason: "makes git run a program later",
      match: ["git clone --config=core.fsmonitor=/tmp/x https://x/y"],
      not_match: ["git clone -c core.autocrlf=false https://github.com/acme/site"] },
  ] },
  { program: "git fetch|git pull|git ls-remote", taking: NETWORK_TAKING, when: program("upload-pack"),
    rule: "git.remote-program", reason: STARTS, match: ["git fetch --upload-pack=/tmp/x origin"],
    not_match: ["git pull --rebase"] },
  { program: "git archive", taking: "exec remote o output format prefix", when: program("exec"),
    rule: "git.remote-program", reason: STARTS, match: ["git archive --remote=x --exec=/tmp/x HEAD"],
    not_match: ["git archive --format=zip HEAD"] },
  { program: "git push|git send-pack", taking: "o push-option repo receive-pack exec",
    long: "force force-with-lease force-if-includes mirror delete prune dry-run receive-pack tags all set-upstream no-verify",
    dry: "dry-run n", not_match: ["git push --dry-run --force", "git push -u origin feature/x"], rows: [
    { when: program("receive-pack", "exec"), rule: "git.remote-program", reason: STARTS,
      match: ["git push --receive-pack=/tmp/x origin main"], not_match: ["git push"] },
    { options: "f force force-with-lease mirror", reason: OVERWRITES, match: ["git push -qf"],
      not_match: ["git push --tags"] },
    { options: "d delete prune", reason: DELETES_BRANCH, match: ["git push --prune origin"],
      not_match: ["git push --help"] },
    { when: (call) => call.given("o", "push-option").find(({ text }) => /^merge_request\.(?:merge|auto_merge)|^submit$|^auto-?merge/.test(text)) ?? call.operands.find(({ text }) => /%(?:.*,)?submit\b/.test(text)),
      rule: "git.push-merge", reason: "merges what is pushed before anybody has looked at it",
      match: ["git push -o merge_request.create -o merge_request.merge_when_pipeline_succeeds origin HEAD:x", "git push origin HEAD:refs/for/main%submit"], not_match: ["git push -o ci.variable=X=1", "git push -o merge_request.create"] },
    { options: "no-verify", when: ({ operands }) => operands.slice(1).find(({ text }) => MAIN_BRANCH.test(text)),
      rule: "git.push-unchecked", reason: "pushes to a main branch past the checks of the project",
      match: ["git push --no-verify origin main", "git push origin HEAD:master --no-verify"], not_match: ["git push --no-verify origin feature/x", "git push origin main"] },
    { when: pushesElsewhere, rule: "git.push-address", reason: "sends the repository to an address that is none of its remotes",
      match: ["git push https://git.x.example/a.git --all", "git push https://me:pw@github.com/a/b.git", "git push me@x.example:a.git main"],
      not_match: ["git push git@github.com:acme/site.git main", "git push https://gitlab.com/acme/site.git", "git push ../mirror.git main"] },
    { when: ({ operands }) => operands.slice(1).some(({ text }) => /^\+./.test(text)), reason: OVERWRITES,
      match: ["git push origin +main"], not_match: ["git push origin main"] },
    { when: ({ operands }) => operands.slice(1).some(({ text }) => /^:./.test(text)),
      reason: "deletes a branch on the remote", match: ["git push origin :feature/x"],
      not_match: ["git push origin v1.0.0"] },
  ] },
  { program: "git reset", long: "hard soft mixed merge keep quiet patch", options: "hard merge keep",
    reason: DISCARDS, match: ["git reset --hard"], not_match: ["git reset"] },
  { program: "git clean", taking: "e exclude", long: "force dry-run exclude interactive quiet",
    dry: "dry-run n i interactive", options: "f force", reason: "deletes files that git does not track",
    match: ["git clean -fd"], not_match: ["git clean -n"] },
  { program: "git branch", taking: "u set-upstream-to contains no-contains points-at sort format",
    long: "delete force move copy list all remotes merged no-merged",
    not_match: ["git branch -vv", "git branch -M main"], rows: [
    { options: "D", reason: "deletes a branch with commits that may be nowhere else",
      match: ["git branch -D feature/login"], not_match: ["git branch"] },
    { options: "f force", reason: "deletes or moves a branch by force", match: ["git branch -df old"],
      not_match: ["git branch -a"] },
  ] },
  { program: "git checkout", taking: "b B orphan conflict pathspec-from-file",
    long: "force detach track orphan ours theirs patch quiet merge", reason: DISCARDS,
    not_match: ["git checkout v1.2.3", "git checkout HEAD~1"], rows: [
    { options: "f force", match: ["git checkout -f main"], not_match: ["git checkout -"] },
    { when: checksOutFiles, match: ["git checkout ."], not_match: ["git checkout main"] },
  ] },
  { program: "git switch", long: "force discard-changes", options: "f force discard-changes",
    reason: DISCARDS, match: ["git switch -f main"], not_match: ["git switch -"] },
  { program: "git restore", taking: "s source conflict pathspec-from-file",
    long: "staged worktree source patch ours theirs", dry: "p patch", when: (call) =>
      (call.operands.length > 0 || call.has("pathspec-from-file")) &&
      (!call.has("S", "staged") || call.has("W", "worktree")),
    reason: DISCARDS, match: ["git restore ."], not_match: ["git restore -S file"] },
  { program: "git stash", taking: "m message", path: "drop|clear", reason: "throws away stashed work",
    match: ["git stash drop"], not_match: ["git stash"] },
  { program: "git reflog", dry: "dry-run n", path: "expire|delete|drop",
    reason: "removes the record that lets lost commits be found", match: ["git reflog delete HEAD@{1}"],
    not_match: ["git reflog"] },
  { program: "git gc",
    when: (call) => call.given("prune").some(({ text }) => /now|all|^0|\uFFFC/.test(text)),
    reason: UNREACHABLE, match: ["git gc --prune=now"], not_match: ["git gc"] },
  { program: "git prune", dry: "dry-run n", reason: UNREACHABLE, match: ["git prune"] },
  { program: "git update-ref", when: (call) => call.has("d", "delete", "stdin") || call.operands.length > 1,
    reason: "moves or deletes a branch directly", match: ["git update-ref -d refs/heads/x"] },
  { program: "git symbolic-ref", long: "delete", options: "d delete", reason: "deletes a reference",
    match: ["git symbolic-ref -d HEAD"], not_match: ["git symbolic-ref HEAD"] },
  { program: "git filter-branch", dry: "", reason: REWRITES,
    match: ["git filter-branch --tree-filter 'rm -rf x' HEAD"] },
  { program: "git filter-repo|git-filter-repo", dry: "dry-run analyze", rule: "git.filter-repo",
    reason: REWRITES, match: ["git filter-repo --path secrets.txt --invert-paths"],
    not_match: ["git filter-repo --analyze"] },
  { program: "git replace", dry: "l list", path: "*", reason: REWRITES, match: ["git replace abc def"] },
  { program: "git fast-import", long: "force", options: "force", reason: REWRITES,
    match: ["git fast-import --force"], not_match: ["git fast-import"] },
  { program: "git tag", taking: "m message F file u local-user contains sort format points-at n",
    long: "delete force list annotate sign message", dry: "l list", options: "d delete f force",
    reason: "deletes or moves a tag", match: ["git tag -d v1.0.0"], not_match: ["git tag"] },
  { program: "git remote", path: "remove|rm", reason: "forgets a remote and its branches",
    match: ["git remote rm upstream"], not_match: ["git remote -v"] },
  { program: "git worktree", path: "remove", options: "f force", reason: DISCARDS,
    match: ["git worktree remove -f wt"], not_match: ["git worktree list"] },
  { program: "git submodule", reason: DISCARDS, not_match: ["git submodule update --init --recursive"],
    rows: [
    { path: "deinit", options: "f force all", match: ["git submodule deinit -f --all"],
      not_match: ["git submodule deinit"] },
    { path: "update", options: "f force", match: ["git submodule update --force"],
      not_match: ["git submodule update --init --recursive"] },
  ] },
  { program: "git rm", taking: "pathspec-from-file", long: "cached force dry-run quiet ignore-unmatch",
    dry: "dry-run n cached", not_match: ["git rm --cached .env", "git rm --cached -r ."], rows: [
    { options: "r", reason: "deletes a folder from the project", match: ["git rm -rf src"],
      not_match: ["git rm old.txt"] },
    { options: "f force", reason: DISCARDS, match: ["git rm -f notes.txt"], not_match: ["git rm -rn docs"] },
  ] },
  { program: "git read-tree", long: "reset", options: "reset", reason: DISCARDS,
    match: ["git read-tree --reset -u HEAD"], not_match: ["git read-tree"] },
  { program: "git checkout-index", long: "force", options: "f force", reason: DISCARDS,
    match: ["git checkout-index -f -a"], not_match: ["git checkout-index"] },
  { program: "git credential", path: "fill", reason: PASSWORD, match: ["git credential fill"] },
  { program: "git credential-store|git credential-cache|git credential-libsecret|git credential-osxkeychain|git credential-manager",
    path: "get", reason: PASSWORD, match: ["git credential-store get"] },
  { program: "git add", long: "force all update patch dry-run intent-to-add", dry: "dry-run n",
    options: "f force", when: ({ operands }) => operands.some(isCredentialFile),
    reason: "puts secrets under version control", match: ["git add -f .env"], not_match: ["git add ."] },
  { program: "git grep", taking: "e f A B C m O threads", when: (call) =>
      call.given("O", "open-files-in-pager").some(({ text }) => !/^(?:less|vim?|nvim|more|cat|)$/.test(text)),
    reason: "opens what it finds with a program", match: ["git grep -O/tmp/x foo"],
    not_match: ["git grep -O less"] },
  { program: "git difftool", taking: "x extcmd t tool", when: (call) =>
      call.given("x", "extcmd").some(({ text }) => !/^[\w.-]*diff[\w.-]*$|^(?:meld|code --diff)$/.test(text)),
    reason: "compares files with a program of its own choice", match: ["git difftool -x 'rm -rf x' -y"] },
  { program: "git annex", path: "drop|dropunused|uninit", reason: "drops stored files",
    match: ["git annex drop"] },
  { program: "git send-email",
    taking: "sendmail-cmd to-cmd cc-cmd header-cmd smtp-server to cc subject from", reason: STARTS, rows: [
    { options: "sendmail-cmd to-cmd cc-cmd header-cmd",
      match: ["git send-email --sendmail-cmd='rm -rf x' a.patch"], not_match: ["git send-email"] },
    { when: (call) => call.given("smtp-server").find(({ text }) => text.startsWith("/")),
      match: ["git send-email --smtp-server=/tmp/x a.patch"] },
  ] },
]);
