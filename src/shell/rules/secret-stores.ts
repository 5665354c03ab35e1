import { isCredentialFile, isCredentialStore } from "./places.js";
import { type Condition, subject } from "./row.js";

const PRINTS = "prints a stored password, key or token";
const KEYS = "deletes or changes keys";

/** `openssl rsa -in KEY`: without an option that says otherwise, the key itself is printed. */
const printsPrivateKey: Condition = ({ args }) => {
  const says = (option: RegExp): boolean => args.some(({ text }) => option.test(text));
  if (!/^(?:rsa|ec|dsa|pkey|pkcs8|pkcs12)$/.test(args[0]?.text ?? "")) return undefined;
  if (says(/^-(?:pubin|pubout|nokeys|export)$/)) return undefined;
  if (!says(/^-text$/) && says(/^-(?:out|noout)$/)) return undefined;
  return args.find((word, index) => args[index - 1]?.text === "-in" && isCredentialFile(word));
};

/** Programs that keep secrets and print them when asked. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("credentials", [
  { program: "security", taking: "a s l D", dry: "", rows: [
    { when: ({ operands: [verb] }) =>
        /^(?:delete-|remove-|add-trusted|set-key|authorizationdb)/.test(verb?.text ?? "")
          ? verb
          : undefined,
      rule: "delete.credentials", reason: KEYS, match: ["security delete-keychain x"] },
    { path: "find-generic-password|find-internet-password", options: "w g", rule: "credentials.keychain",
      reason: PRINTS, match: ["security find-generic-password -s x -w"],
      not_match: ["security find-generic-password"] },
    { path: "dump-keychain|export", rule: "credentials.keychain", reason: PRINTS,
      match: ["security dump-keychain"] },
  ] },
  { program: "op", taking: "account vault fields format", reason: PRINTS, not_match: ["op whoami"], rows: [
    { path: "read", match: ["op read op://vault/item/password"] },
    { path: "item get", options: "reveal fields otp", match: ["op item get --otp"],
      not_match: ["op item get"] },
    { path: "document get", match: ["op document get"] },
  ] },
  { program: "kwallet-query", taking: "f r w", dry: "", options: "r read-password", reason: PRINTS, rule: "credentials.keychain", match: ["kwallet-query -r mail kdewallet"],
    not_match: ["kwallet-query -l kdewallet"] },
  { program: "sops", taking: "k kms p pgp age config input-type output-type extract", dry: "", word: /^(?:-[a-z]*d|--decrypt|decrypt|exec-env)$/, unless: /^(?:-i|--in-place|--output(?:=.*)?)$/,
    reason: PRINTS, rule: "credentials.read", match: ["sops -d secrets.enc.yaml"], not_match: ["sops -e a.yaml", "sops -d -i a.yaml"] },
  { program: "ansible-vault", path: "view", reason: PRINTS, rule: "credentials.read", match: ["ansible-vault view a.yml"], not_match: ["ansible-vault encrypt a.yml"] },
  { program: "my_print_defaults", dry: "", word: /^(?:-s|--show)$/, reason: PRINTS, rule: "credentials.read", match: ["my_print_defaults -s client"], not_match: ["my_print_defaults client"] },
  { program: "openssl", dry: "", when: printsPrivateKey, reason: PRINTS, rule: "credentials.key", match: ["openssl rsa -in privkey.pem -text", "openssl pkey -in site.key", "openssl pkcs12 -in a.p12 -nodes"],
    not_match: ["openssl rsa -in key.pem -pubout -out pub.pem", "openssl rsa -in key.pem -check -noout", "openssl x509 -in cert.pem -text", "openssl pkcs12 -in a.p12 -nokeys"] },
  { program: "ssh-keygen", taking: "f t b C N P m O I n V", dry: "", rule: "credentials.key",
    not_match: ["ssh-keygen -t ed25519 -f ./id_test -N ''", "ssh-keygen -t ed25519 -f ./deploy_key -N ''"],
    rows: [
    { when: (call) => {
          const [file] = call.given("f");
          const reads = call.has("y", "l", "R", "F", "e", "i");
          return !reads && call.command.input.kind !== "none" && file !== undefined && isCredentialFile(file)
            ? file
            : undefined;
        },
      reason: "writes over a key", match: ["ssh-keygen -t rsa -f ~/.ssh/id_rsa -N '' <<< y"],
      not_match: ["ssh-keygen -t ed25519 -C me"] },
    { options: "y", when: (call) => {
          const [word] = call.given("f");
          return word === undefined || isCredentialFile(word) ? { word } : undefined;
        },
      reason: "reads a private key", match: ["ssh-keygen -y -f ~/.ssh/id_rsa"],
      not_match: ["ssh-keygen -y -f key > key.pub"] },
    { options: "p", when: (call) => call.given("N").some(({ text }) => text === ""),
      reason: "removes the password of a key", match: ["ssh-keygen -p -N '' -f key"],
      not_match: ["ssh-keygen -lf ~/.ssh/id_rsa.pub"] },
  ] },
  { program: "gpg|gpg2", dry: "", not_match: ["gpg --verify a.sig a", "gpg --import key.asc"], rows: [
    { word: /^--(?:delete-(?:secret-|secret-and-public-)?keys?|edit-key|clear-secret|quick-revoke)/,
      rule: "delete.credentials", reason: KEYS, match: ["gpg --delete-secret-keys ABC"],
      not_match: ["gpg --list-keys"] },
    { word: /^--export-secret-(?:keys|subkeys)$/, rule: "credentials.key", reason: PRINTS,
      match: ["gpg --export-secret-keys"], not_match: ["gpg -d x.gpg > x"] },
    { word: /^-[a-z]*d[a-z]*$|^--decrypt(?:-files)?$/, when: ({ args }) => args.find(isCredentialStore), rule: "credentials.read", reason: PRINTS,
      match: ["gpg -qd ~/.password-store/mail.gpg", "find ~/.password-store -name '*.gpg' -exec gpg --decrypt {} +"],
      not_match: ["gpg --decrypt backup.tar.gpg"] },
  ] },
  { program: "mimikatz|unshadow", dry: "", rule: "credentials.dump", reason: PRINTS, match: ["mimikatz"] },
  { program: "git-credential", dry: "", rule: "credentials.keychain", reason: PRINTS,
    match: ["git-credential"] },
  { program: "cmdkey", dry: "", word: /^\/(?:add|delete)/i, rule: "credentials.keychain",
    reason: "changes stored passwords", match: ["cmdkey /add"] },
  { program: "john|hashcat", dry: "", rule: "credentials.dump", reason: "guesses passwords", match: ["john"] },
  { program: "keyctl", dry: "", path: "print|read|pipe|dump", rule: "credentials.keychain", reason: PRINTS, match: ["keyctl print 123"],
    not_match: ["keyctl show"] },
  { program: "getent", dry: "", path: "shadow|gshadow", rule: "credentials.dump", reason: PRINTS, match: ["getent shadow"],
    not_match: ["getent passwd"] },
  { program: "ps", dry: "", when: ({ args }) =>
      args.find(({ text }, at) =>
        (at === 0 && /^[aAcfghjlLmnrSTuvwxX]*e[aAcefghjlLmnrSTuvwxX]*$/.test(text)) || /^(?:-[a-zA-Z]*E[a-zA-Z]*|e[w]*)$/.test(text) && at < 3 && !/^-?[oOpq]$|^--(?:format|pid)$/.test(args[at - 1]?.text ?? "")),
    rule: "credentials.environment", reason: "shows the environment, keys as well, of every program",
    match: ["ps axeww", "ps e"], not_match: ["ps -ef", "ps aux", "ps -eo pid,etime"] },
  { program: "yt-dlp|youtube-dl|gallery-dl|you-get|streamlink", dry: "", word: /^--cookies-from-browser/, rule: "credentials.cookies",
    reason: "takes the sessions out of a browser", match: ["yt-dlp --cookies-from-browser firefox u"], not_match: ["yt-dlp u"] },
  { program: "gcore", dry: "", rule: "credentials.dump", reason: "copies the memory of a process",
    match: ["gcore"] },
]);
