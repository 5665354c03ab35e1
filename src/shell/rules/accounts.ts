import { type Condition, names, subject } from "./row.js";
import { writesOf } from "./writes.js";

const ACCOUNT = "changes the users or groups of the machine";
const SHELL = "opens a shell with the rights of another user";
const EDIT = "edits a file with the rights of root";
const LOGIN = "changes how users log in";
const CHANGE = "account.change";
const DIRECTORY = "deletes or changes entries of a directory";

const SUDO_READS =
  /^(?:-[lvkKV]|-ll|-h|--list|--validate|--remove-timestamp|--reset-timestamp|--version|--help)$/;
const SUDO_TAKING = names(
  "-u --user -g --group -h --host -p --prompt -C -D -R -r -t -T -U --chdir --other-user",
);

/** An option of `sudo` itself, in front of the command it runs, which is judged on its own. */
const sudoOption =
  (pattern: RegExp, unlessReading = false): Condition =>
  ({ args }) => {
    for (let index = 0; index < args.length; index++) {
      const word = args[index];
      if (word === undefined || word.text === "--" || !word.text.startsWith("-")) break;
      if (SUDO_TAKING.has(word.text)) index++;
      else if (unlessReading && SUDO_READS.test(word.text)) break;
      else if (pattern.test(word.text)) return word;
    }
    return undefined;
  };

/** `sudo bash`: nothing says what the shell is to do. */
const rootShell: Condition = ({ command: { args, wrappers, input } }) =>
  input.kind === "none" &&
  wrappers.some(({ kind }) => kind === "root") &&
  args.every(({ text }) => /^-[ilmps]+$|^--(?:login|posix|noprofile|norc|privileged)$/.test(text))
    ? {}
    : undefined;

const BUILDERS = names(
  "make gmake ninja samu meson cmake scons waf just task rake bmake tup xmake stack cabal dune nimble",
);

/** `sudo make install`: whatever the project says, as root. */
const installsAsRoot: Condition = ({ args, command: { program, wrappers } }) =>
  BUILDERS.has(program) && wrappers.some(({ kind }) => kind === "root")
    ? args.find(({ text }) => /^(?:--)?(?:un)?install(?:[-_:/]\S*)?$/.test(text))
    : undefined;

const writesRootHome: Condition = ({ command }) =>
  command.wrappers.some(({ kind }) => kind === "root")
    ? writesOf(command).find(({ word }) => /^(?:\/root|~root)(?:\/|$)/.test(word.text))?.word
    : undefined;

/** Users, groups, passwords, and programs that lend the rights of another user. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("accounts", [
  { program: "usermod|userdel|deluser|groupadd|addgroup|groupdel|delgroup|groupmod|groupmems|chpasswd|chgpasswd|vipw|vigr|newusers|pwconv|pwunconv|luseradd|lusermod|luserdel|lgroupadd|lgroupdel|useradd|adduser|chsh|chfn|smbpasswd",
    unless: /^(?:-l|--list-shells)$/, when: ({ command: { program, args } }) =>
      program === "useradd" && args.length === 1 && args[0]?.text === "-D"
        ? undefined
        : { word: args.at(-1) },
    rule: CHANGE, reason: ACCOUNT, match: ["vipw"], not_match: ["useradd --help"] },
  { program: "gpasswd", unless: /^-h$/, rule: CHANGE, reason: ACCOUNT, match: ["gpasswd -a bob docker"] },
  { program: "passwd", unless: /^(?:-S|--status|-Sa)$/, rule: CHANGE, reason: ACCOUNT, match: ["passwd"],
    not_match: ["passwd --help"] },
  { program: "chage", unless: /^(?:-l|--list)$/, rule: CHANGE, reason: ACCOUNT, match: ["chage -E 0 alice"],
    not_match: ["chage -l alice"] },
  { program: "visudo", unless: /^(?:-c|--check|-V|-cf|-qc|-cq)$/, rule: CHANGE, reason: ACCOUNT,
    match: ["visudo"], not_match: ["visudo -c"] },
  { program: "sh|bash|zsh|dash|ksh|fish", dry: "", when: rootShell, rule: "account.root-shell",
    reason: SHELL, match: ["sudo bash"], not_match: ["bash script.sh"] },
  { program: "sudo", dry: "", not_match: ["sudo -V", "sudo -l -U bob"], rows: [
    { when: sudoOption(/^(?:-[nEHPbk]*[SA]\w*|--stdin|--askpass)$/), rule: "account.sudo-password",
      reason: "hands a password to sudo by a program or a pipe", match: ["sudo -S ls"],
      not_match: ["sudo -l"] },
    { when: sudoOption(/^(?:-[nEHPbk]*[is]|--login|--shell)$/, true), rule: "account.root-shell",
      reason: SHELL, match: ["sudo -s"], not_match: ["sudo -v"] },
    { when: sudoOption(/^(?:-[nEHk]*e|--edit)$/), rule: "account.root-edit", reason: EDIT,
      match: ["sudo -e /etc/hosts"], not_match: ["sudo -k"] },
  ] },
  { program: "pkexec|run0|kdesu|kdesudo|gksu|gksudo|beesu|lxqt-sudo|lxsudo|ktsuss|dzdo|sux|calife|super|userv|sup|really|please|elevate|gsudo|runas", dry: "",
    unless: /^(?:--?help|-h|--version|-V|--list|-l)$/, word: /./, rule: "account.root", reason: "runs a command with the rights of root by another door than sudo",
    match: ["pkexec sh -c 'id > /root/x'", "run0 bash -c whoami"], not_match: ["pkexec --version"] },
  { program: "newgrp", dry: "", word: /^(?:docker|sudo|wheel|root|admin|adm|disk|shadow|lxd|incus-admin|libvirt|kvm|kmem|video|input|systemd-journal)$/, rule: "account.root", reason: "takes the rights of a group that can do what root can", match: ["newgrp docker"], not_match: ["newgrp staff"] },
  { program: "capsh", dry: "", word: /^--(?:user|uid|gid)=(?:root|0)$/, rule: "account.root", reason: "takes the rights of root", match: ["capsh --user=root --"], not_match: ["capsh --print"] },
  { program: "*", when: installsAsRoot, rule: "system.files", reason: "lets a project write into the system with the rights of root",
    match: ["sudo -E make install prefix=/usr", "sudo ninja -C build install", "sudo cmake --install build"], not_match: ["make install DESTDIR=out", "sudo apt install make"] },
  { program: "*", when: writesRootHome, rule: "system.files", reason: "writes into the home of root", match: ["sudo sh -c 'id > /root/x'", "sudo tee /root/.x < a"], not_match: ["sudo ls /root", "echo hi > /root/x"] },
  { program: "doas", dry: "", word: /^-s$/, rule: "account.root-shell", reason: SHELL, match: ["doas -s"] },
  { program: "su|runuser", unless: /^(?:-c|--command|--session-command)|^-[a-zA-Z]*c$/,
    rule: "account.root-shell", reason: SHELL, match: ["su"], not_match: ["su --help"] },
  { program: "sudoedit", rule: "account.root-edit", reason: EDIT, match: ["sudoedit /etc/hosts"] },
  { program: "dscl", word: /^-?(?:create|append|delete|passwd|change|changei|merge)$/i, rule: CHANGE,
    reason: ACCOUNT, match: ["dscl . -create /Users/bob"], not_match: ["dscl . list /Users"] },
  { program: "sysadminctl",
    word: /^-(?:addUser|deleteUser|resetPasswordFor|newPassword|secureTokenO|guestAccount)/i, rule: CHANGE,
    reason: ACCOUNT, match: ["sysadminctl -addUser bob"] },
  { program: "dseditgroup", word: /^(?:create|delete|edit)$/, rule: CHANGE, reason: ACCOUNT,
    match: ["sudo dseditgroup -o edit -a bob -t user admin"] },
  { program: "pw", unknownVerb: true, path: "useradd|userdel|usermod|groupadd|groupdel|groupmod|lock|unlock",
    rule: CHANGE, reason: ACCOUNT, match: ["pw useradd"] },
  { program: "samba-tool|ipa|realm",
    path: "** delete|add|create|setpassword|join|leave|user-del|user-add|user-mod|passwd|disable|enable",
    rule: CHANGE, reason: ACCOUNT, match: ["samba-tool user delete bob"] },
  { program: "authselect|authconfig|pam-auth-update",
    when: (call) => !/^(?:current|list|show|check|test)$/.test(call.operand(0)), rule: "account.login",
    reason: LOGIN, match: ["authselect select minimal"] },
  { program: "faillock", word: /^--reset$/, rule: "account.login", reason: LOGIN,
    match: ["sudo faillock --user bob --reset"] },
  { program: "ldapdelete|ldapmodify|ldapadd|ldapmodrdn|ldappasswd|ldapmoddn", unless: /^-[nhV?]$/,
    rule: "rare.use", reason: DIRECTORY, match: ["ldapmodify -x -f change.ldif"] },
  { program: "kadmin|kadmin.local|kdb5_util",
    word: /^(?:del(?:ete_)?princ(?:ipal)?|delprinc|addprinc|add_principal|cpw|change_password|modprinc|ktremove|ktrem|ktadd|delpol|delete_policy|destroy)\b/,
    rule: CHANGE, reason: "adds, changes or removes accounts", match: ["kadmin delprinc"] },
]);
