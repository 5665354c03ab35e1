import { inlineCode } from "../code/inline.js";
import { actsItself, openerOf } from "../read/wrappers.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { isCredentialStore, isHermesOwn } from "./places.js";
import { type Condition, names, subject } from "./row.js";
import { placeOf } from "./segments.js";

/**
 * No list of programs that write files is ever complete. So a word that leads into the runtime's own home, or to
 * keys, counts whatever the program: only those are let pass that are known to do nothing but look.
 */

const LOOKS = names(
  "ls exa eza lsd tree stat test [ [[ file wc du df chmod touch mkdir echo printf realpath readlink dirname basename cd " +
    "pushd popd pwd md5sum sha1sum sha256sum sha512sum shasum cksum b2sum getfacl lsattr namei rm unlink cat tac nl head " +
    "tail less more most bat batcat view xxd od hexdump hd strings base64 base32 cut sort uniq paste fold fmt column " +
    "diff comm cmp colordiff sdiff rev pr expand iconv look grep egrep fgrep zgrep rg ag ack sed gsed awk gawk mawk jq yq " +
    "get-content gc type zcat true : export declare typeset local readonly unset read source . alias which whereis command " +
    "fd fdfind locate cp mv ln install tee rsync scp tar unzip truncate hermes hermes-agent hermes-tools " +
    "dd shred rmdir link chown chgrp fuser lsof inotifywait kill pgrep mdfind multitail wait jobs",
);

/** Verbs of git that only look, or that put what is there into the repository. */
const GIT_LOOKS = names(
  "status log diff show blame ls-files ls-tree rev-parse add commit check-ignore grep shortlog describe cat-file",
);

/** Programs that a person's keys are meant for; what they may do with them has rules of its own. */
const KEY_USERS = names(
  "ssh scp sftp rsync ssh-add ssh-keygen ssh-keyscan ssh-copy-id ssh-agent mosh autossh sshfs sshpass eval gpg gpg2 gpgconf " +
    "gpg-agent gpgsm gpg-connect-agent keychain aws aws-vault aws-sso sam cdk eksctl copilot kubectl kubectx kubens k9s oc helm " +
    "helmfile kustomize stern kind minikube k3d docker docker-compose podman buildah skopeo nerdctl crane az gcloud gsutil bq " +
    "hub op rclone doctl heroku vault terraform tofu terragrunt pulumi npm yarn pnpm pip pip3 twine poetry uv cargo gem bundle " +
    "composer mvn gradle nuget dotnet psql pg_dump pg_restore createdb mysql mysqldump mysqladmin mycli pgcli s3cmd databricks " +
    "snowsql fly flyctl pass sops age kaggle huggingface-cli hf oci ibmcloud aliyun ansible ansible-playbook ansible-vault " +
    "vagrant packer chezmoi stow restorecon setfacl curl wget http claude codex git find gfind fd fdfind sudo doas su",
);

/** Options whose value is read by people: it mentions places, and leads to none. */
const PROSE = /^(?:-m|-am|--message|--body|-b|--title|--notes|--grep|--description|--comment|--subject|-F)$/;
const OUTPUT = /^(?:-o|--out(?:put)?(?:-[\w-]+)?)(?:=|$)|^-o[~/.]|^--(?:prefix|directory|to|dest\w*)(?:=|$)/;

/** What a word may lead to: itself, the value in `--opt=PATH`, `-oPATH`, `key=PATH`, and the paths in `.once PATH`. */
export function pathsIn(word: ShellWord): readonly ShellWord[] {
  const { text } = word;
  if (!/[/~]|\.h/i.test(text) && word.variables === undefined) return NONE;
  if (text.length > LONGEST || !/[\s=:,;@"'(<>|]|^-\w[~/.]/.test(text)) return [word];
  const pieces = text.replace(/^-\w(?=[~/.])/, "").split(/[\s=:,;@"'()<>|]+/);
  return pieces.flatMap((piece) => (/[/~]|\.h/i.test(piece) ? [{ ...word, text: piece }] : []));
}

const NONE: readonly ShellWord[] = [];
/** Longer words are texts: those that programs run are read as such. */
const LONGEST = 2_000;

/** Words that lead somewhere, without what is said in passing and what is looked at elsewhere. */
function leads(command: SimpleCommand, isThere: (path: ShellWord) => boolean): ShellWord | undefined {
  const { program, args } = command;
  if (openerOf(program) !== undefined && !actsItself(program)) return undefined;
  const code = inlineCode(command);
  const readsCode = code !== undefined && code.language.name !== "sql";
  return args.find((word, index) => {
    const isText = /\s/.test(word.text);
    if (isText && (readsCode || PROSE.test(args[index - 1]?.text ?? ""))) return false;
    if (isText && /^--?(?:message|body|title|grep|m|format|pretty)=/.test(word.text)) return false;
    return pathsIn(word).some(isThere);
  });
}

/** `sqlite3 x '.once ~/.hermes/config.yaml'`, `git clone … ~/.hermes/plugins/x`, `cmake -E copy x ~/.hermes/config.yaml`. */
const touchesOwn: Condition = ({ command }) => {
  const { program, args } = command;
  // `git log` is asked about as `git` already.
  if (program === "" || program.includes(" ") || LOOKS.has(program)) return undefined;
  const word = leads(command, isOwn);
  if (word === undefined) return undefined;
  if (program === "find" || program === "gfind") return findsToAct(command) ? word : undefined;
  if (program !== "git") return word;
  const verb = args.find(
    ({ text }, index) => !text.startsWith("-") && !/^-[Cc]$/.test(args[index - 1]?.text ?? ""),
  );
  const onlyLooks = GIT_LOOKS.has(verb?.text ?? "") && !args.some(({ text }) => OUTPUT.test(text));
  return onlyLooks ? undefined : word;
};

/** Results that were too long for an answer lie there, for whoever asked. */
function isOwn(path: ShellWord): boolean {
  if (!isHermesOwn(path)) return false;
  const { segments } = placeOf(path);
  const home = segments.indexOf(".hermes");
  return !(segments[home + 1] === "cache" && segments[home + 2] === "spillover");
}

/** `find ~/.hermes -name 'server.*' -exec cat {} +`: what it finds is handed on. */
function findsToAct({ args, feeds }: SimpleCommand): boolean {
  return (
    args.some(({ text }) => /^-(?:exec|execdir|ok|okdir|delete|fprint\w*|fls)$/.test(text)) ||
    feeds.some(({ program }) => program === "xargs" || program === "parallel")
  );
}

/** Keys in the hands of a program nobody knows. */
const touchesKeys: Condition = ({ command }) => {
  const { program } = command;
  if (program === "" || program.includes(" ") || LOOKS.has(program) || KEY_USERS.has(program))
    return undefined;
  return leads(command, isCredentialStore);
};

// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("protected", [
  { program: "*", when: touchesOwn, rule: "agent.own-files",
    reason: "hands the files of this runtime to a program that may change or show them",
    match: ["xmllint --output ~/.hermes/config.yaml a.xml", "sqlite3 x.db '.once ~/.hermes/config.yaml' 'select 1'",
      "git diff --output=~/.hermes/config.yaml", "git archive -o ~/.hermes/tools/x.tar HEAD",
      "git clone https://x.example/y ~/.hermes/plugins/y", "cmake -E copy a ~/.hermes/config.yaml",
      "find ~/.hermes -name 'server.*' -exec cat {} + | rev"],
    not_match: ["git log -- .hermes/config.yaml", "find ~/.hermes -name '*.log'",
      "git commit -m 'read ~/.hermes/config.yaml first'", "python3 x.py ~/.hermes/cache/spillover/a.txt"] },
  { program: "*", when: touchesKeys, rule: "credentials.unknown-program",
    reason: "hands keys or tokens to a program that may show or change them",
    match: ["xmllint --noout ~/.aws/credentials", "cmake -E cat ~/.ssh/id_ed25519"],
    not_match: ["ssh -i ~/.ssh/id_ed25519 host", "kubectl --kubeconfig ~/.kube/config get pods"] },
]);
