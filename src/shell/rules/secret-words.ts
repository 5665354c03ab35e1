import { parseOptions } from "../read/options.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { TAKES_DATA } from "./data-programs.js";
import { logsInWith } from "./flows.js";
import { type Condition, names, subject } from "./row.js";

const PRINTS = "prints a stored password, key or token";

/**
 * Programs that keep secrets are many, and their sub-commands are English: a verb that shows, beside the word for a secret.
 */
const SHOWS = names(
  "get show print export read reveal dump view cat display fetch lookup decrypt download access recover output",
);
const SECRET = names(
  "password passwords passwd passphrase token tokens secret secrets credential credentials masterkey privkey dumpprivkey " +
    "dumpwallet keyring keychain mnemonic apikey apikeys otp totp",
);
/** Two words that together mean one: `private-key`, `api-keys`, `master key`. */
const KEY_KIND = /^(?:private|api|master|secret|access|signing|encryption|recovery)$/;
const WORD = /^[a-z][\w:.-]{0,40}$/i;
/** How many words deep they stand: `cli secrets get NAME`. */
const DEEPEST = 3;
/** Programs whose rows know better what of it is harmless. */
const READ_ELSEWHERE = names(
  "kubectl oc gh glab vault op aws gcloud az npm docker podman helm security ssh-keygen gpg gpg2 git sed perl redis-cli",
);
/** Options that ask for the values besides the names. */
const REVEALS =
  /^--?(?:(?:show|reveal|print|dump|unmask|with|include)-(?:[\w-]+-)?(?:secrets?|tokens?|passwords?|passphrases?|keys?|credentials?|decryption|values)|-reveal|-unmask)(?:=true)?$/;
/** Programs that keep nothing but secrets, by their names. */
const KEEPER =
  /(?:^|[-_.])(?:credential|credentials|keyring|keychain|password|passwords|secret|secrets)(?:[-_.]|$)|^(?:[a-z]*(?<!by|com|sur|tres)pass(?:-cli)?|passage|prs|lpass|bw|rbw|dcli|dashlane-cli|keeper|nordpass|enpass-cli|enpasscli|protonpass-cli|pass-cli|kpcli|keepassxc-cli|chamber|teller|doppler|infisical|berglas|akeyless|conjur|summon|envchain|keybase|gnome-keyring-query)$/;
const KEEPER_SHOWS = names(
  "get show print export read reveal dump view cat lookup search clip copy list env access secrets password passwords otp totp item items download recover",
);

/** `fly auth token`, `wallet private-key`: what it is for stands in front. */
const OWNER = /^(?:auth|accounts?|login|session|identity|ca|sso|user|config|access|wallet|projects?)$/;
const TOKEN =
  /^(?:tokens?|api-?keys|private-key|credentials|(?:print|generate|create|new|issue)-(?:[\w-]+-)?tokens?)$/;

const words = ({ program, args }: SimpleCommand): readonly string[] => {
  const rest = /^python[\d.]*$/.test(program) && args[0]?.text === "-m" ? args.slice(1) : args;
  return parseOptions(rest)
    .operands.slice(0, DEEPEST + 1)
    .map(({ text }) => text.toLowerCase());
};

function namesSecret(parts: readonly string[]): boolean {
  return parts.some(
    (part, at) => SECRET.has(part) || (/^keys?$/.test(part) && KEY_KIND.test(parts[at - 1] ?? "")),
  );
}

function asks(command: SimpleCommand): boolean {
  const { program } = command;
  const all = words(command);
  const name = /^python/.test(program) ? (all[0] ?? "") : program;
  if (isKeeper(name)) {
    const [verb = "", object = ""] = all
      .slice(name === program ? 0 : 1)
      .map((word) => word.split("-")[0] ?? "");
    // The names alone are no secret, except where whole entries are listed.
    if (verb === "list") return /^bw$|credential/.test(name);
    return (
      KEEPER_SHOWS.has(verb) || (KEEPER_SHOWS.has(object) && !/^(?:run|exec|set|add|insert)$/.test(verb))
    );
  }
  const plain = all.slice(0, DEEPEST).filter((word) => WORD.test(word) && !/\.\w+$/.test(word));
  const parts = plain.flatMap((word) => word.split(/[:_.-]/));
  if (parts.some((part) => SHOWS.has(part)) && namesSecret(parts)) return true;
  if (parts.some((part) => SHOWS.has(part)) && all.some((word) => /(?:^|\/)secrets?(?:\/|$)/.test(word)))
    return true;
  return plain.some(
    (word, at) => /^auth:tokens?$/.test(word) || (TOKEN.test(word) && OWNER.test(plain[at - 1] ?? "")),
  );
}

/** Most commands have no word that could mean one: asked first, since everything else takes longer. */
const MENTIONS = /pass|token|secret|credential|key|wallet|mnemonic|otp|reveal|unmask|decrypt|values/i;
const FARTHEST = 12;
const keepers = new Map<string, boolean>();

function isKeeper(program: string): boolean {
  let known = keepers.get(program);
  if (known === undefined) {
    known = KEEPER.test(program);
    if (keepers.size < 1_000) keepers.set(program, known);
  }
  return known;
}

const asksForSecret: Condition = ({ command }) => {
  const { program, args } = command;
  if (program === "" || args.length === 0 || program.includes(" ")) return undefined;
  if (!isKeeper(program) && !args.slice(0, FARTHEST).some(({ text }) => MENTIONS.test(text)))
    return undefined;
  const isModule =
    /^python[\d.]*$/.test(program) && args[0]?.text === "-m" && KEEPER.test(args[1]?.text ?? "");
  const isData = TAKES_DATA.has(program) && !/^(?:terraform|tofu)$/.test(program);
  if ((isData && !isModule) || READ_ELSEWHERE.has(program)) return undefined;
  if (/^python/.test(program) && !isModule) return undefined;
  if (args.some(({ text }) => /^(?:--?help|-h)$/.test(text)) || logsInWith(command)) return undefined;
  const revealed = args.find(({ text }) => REVEALS.test(text));
  return revealed ?? (asks(command) ? firstWord(args) : undefined);
};

const firstWord = (args: readonly ShellWord[]): ShellWord | undefined =>
  args.find(({ text }) => !text.startsWith("-"));

/** Programs that print secrets when asked, told by the words and not by the program. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("credentials", [
  { program: "*", when: asksForSecret, rule: "credentials.keychain", reason: PRINTS,
    match: ["flyctl auth token", "infisical secrets get DB_PASSWORD", "docker-credential-pass list", "python3 -m keyring get pypi me",
      "restic cat masterkey", "pulumi config --show-secrets", "bw list items", "rbw get mail", "cast wallet private-key x", "terraform output -raw db_password"],
    not_match: ["terraform output -raw vpc_id", "foo tokens list", "mytool password generate-hash a", "doppler run -- npm start", "foo list tokens.txt", "pass ls", "foo show version", "keyring --list-backends"] },
]);
