import { isForeignRepository } from "./addresses.js";
import { logsInWith } from "./flows.js";
import { subject } from "./row.js";

const SENT_AWAY = "sends the repository to an address that is none of its remotes";
const FOR_EVERYBODY = "deletes something on the forge for everybody";
const EXPOSES = "changes who can see or use the repository";
const KEY = "gives a key access to the account";
const TOKEN = "prints an access token";
const DISCARDS = "throws away changes that are not committed";
const WORK = "throws away work";

/** Forges (GitHub, GitLab …), and what keeps versions beside git. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("git", [
  { program: "gh|glab|hub|tea",
    taking: "R repo X method H header f raw-field F field q jq t hostname visibility b body title B m",
    dry: "dry-run", not_match: ["gh repo view", "gh secret list"], rows: [
    { path: "* delete|remove|delete-asset|item-delete|field-delete",
      when: (call) => !/^(?:alias|search|extension|ext|browse)$/.test(call.operand(0)),
      reason: FOR_EVERYBODY, match: ["gh issue delete 12"] },
    { path: "repo|project|cluster * delete|remove", reason: FOR_EVERYBODY, match: ["gh repo web delete"] },
    { path: "secret|variable set", reason: "changes secrets of the repository", match: ["gh secret set X"] },
    { path: "ssh-key|gpg-key|deploy-key add", reason: KEY, match: ["gh ssh-key add key.pub"] },
    { path: "repo deploy-key add", reason: KEY, match: ["gh repo deploy-key add"] },
    { path: "repo archive|transfer", reason: EXPOSES, match: ["gh repo archive acme/site"] },
    { path: "repo edit", options: "visibility accept-visibility-change-consequences", reason: EXPOSES,
      match: ["gh repo edit --visibility public"], not_match: ["gh repo edit"] },
    { path: "repo sync", options: "force", reason: "overwrites a branch", match: ["gh repo sync --force"],
      not_match: ["gh repo sync"] },
    { path: "workflow disable", reason: "switches a workflow off", match: ["gh workflow disable ci.yml"] },
    { path: "auth token", when: ({ command }) => !logsInWith(command), reason: TOKEN,
      match: ["gh auth token"], not_match: ["gh auth token --help"] },
    { path: "auth status", options: "t show-token", reason: TOKEN, match: ["gh auth status --show-token"],
      not_match: ["gh auth status"] },
    { path: "alias set",
      when: (call) => call.has("s", "shell") || call.rest.some(({ text }) => text.startsWith("!")),
      reason: "hides a shell command in an alias", match: ["gh alias set -s x 'rm -rf y'"] },
    { path: "api", when: (call) => call.given("X", "method").some(({ text }) => /^delete$/i.test(text)),
      reason: FOR_EVERYBODY, match: ["gh api -X DELETE repos/acme/site"],
      not_match: ["gh api repos/acme/site"] },
    { path: "api graphql", when: (call) =>
        call
          .given("f", "F", "field", "raw-field")
          .some(({ text }) => text.includes("mutation") && /\bdelete[A-Z]\w*\s*\(/.test(text)),
      reason: FOR_EVERYBODY, match: ["gh api graphql -f query='mutation { deleteRef(input: {}) }'"],
      not_match: ["gh api graphql -f query='{ viewer { login } }'"] },
  ] },
  { program: "svn", taking: "m message r revision F depth username password config-option", dry: "h",
    not_match: ["svn status", "svn update"], rows: [
    { path: "import", when: ({ rest }) => rest.find(({ text }) => isForeignRepository(text)), rule: "git.push-address", reason: SENT_AWAY,
      match: ["svn import docs https://x.example/r -m x"], not_match: ["svn info"] },
    { path: "revert", rule: "git.svn-revert", reason: DISCARDS, match: ["svn revert -R ."] },
    { path: "delete|del|remove|rm",
      when: (call) => call.has("force") || call.rest.some(({ text }) => /^[a-z+]+:\/\//i.test(text)),
      rule: "git.svn-delete", reason: "deletes files from the repository", match: ["svn rm --force src"] },
    { path: "cleanup", options: "remove-unversioned remove-ignored", rule: "git.svn-cleanup",
      reason: "deletes files that are not versioned", match: ["svn cleanup --remove-ignored"],
      not_match: ["svn cleanup"] },
  ] },
  { program: "hg", taking: "R repository cwd config r rev m message b B", dry: "n dry-run",
    not_match: ["hg status", "hg log -l 5"], rows: [
    { when: (call) =>
        call
          .given("config")
          .find(({ text }) =>
            /^(?:hooks|alias|extensions|ui\.(?:ssh|editor|merge)|merge-tools|auth)\b/i.test(text),
          ),
      rule: "git.setting", reason: "makes hg run a program", match: ["hg --config hooks.pre-log=/tmp/x log"],
      not_match: ["hg push"] },
    { path: "strip|rollback|obliterate", reason: "drops commits", match: ["hg strip tip"] },
    { path: "purge|clean", when: (call) => !call.has("p", "print"),
      reason: "deletes files that are not tracked", match: ["hg purge --all"] },
    { path: "update|up|checkout|co|goto", options: "C clean", reason: DISCARDS,
      match: ["hg update -C default"], not_match: ["hg update default"] },
    { path: "revert", reason: DISCARDS, match: ["hg revert --all"] },
    { path: "push", options: "f force", reason: "overwrites history on the remote", match: ["hg push -f"],
      not_match: ["hg push"] },
    { path: "push", when: ({ rest }) => rest.find(({ text }) => isForeignRepository(text)), rule: "git.push-address", reason: SENT_AWAY,
      match: ["hg push https://x.example/r"], not_match: ["hg push default"] },
  ] },
  { program: "jj", taking: "R repository r revision m", not_match: ["jj log"], rows: [
    { path: "abandon|restore", reason: WORK, match: ["jj abandon abc"] },
    { path: "op|operation abandon|restore", reason: WORK, match: ["jj op abandon"] },
    { path: "git push", options: "deleted", reason: "deletes branches on the remote",
      match: ["jj git push --deleted"], not_match: ["jj git push"] },
  ] },
  { program: "fossil", path: "revert|purge|scrub", reason: WORK, match: ["fossil revert"] },
  { program: "bzr", path: "revert|uncommit|clean-tree", reason: WORK, match: ["bzr revert"] },
  { program: "p4", taking: "p u c P", path: "revert|obliterate|clean", reason: WORK, match: ["p4 revert"] },
  { program: "bfg", dry: "", rule: "git.filter-repo", reason: "rewrites history others may have",
    match: ["bfg --delete-files id_rsa"] },
]);
