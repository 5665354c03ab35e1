import type { Rule, RuleSet } from "../types.js";
import { danger, explainsAnywhere, forPrograms, names, operandsOf, verbRule } from "./words.js";

const ACCOUNT = "changes the users or groups of the machine";
const SHELL = "opens a shell with the rights of another user";

const unlessReading =
  (reads: string): Rule =>
  ({ args }) =>
    explainsAnywhere(args) || args.some(({ text }) => names(reads).has(text))
      ? undefined
      : danger("account.change", ACCOUNT, args.at(-1));

const SUDO_READS =
  /^(?:-[lvkKV]|-ll|-h|--list|--validate|--remove-timestamp|--reset-timestamp|--version|--help)$/;
const SUDO_TAKING = names(
  "-u --user -g --group -h --host -p --prompt -C -D -R -r -t -T -U --chdir --other-user",
);

/** Options of `sudo` itself; the command behind them is judged on its own. */
const sudo: Rule = ({ args }) => {
  let reads = false;
  for (let index = 0; index < args.length; index++) {
    const word = args[index];
    if (word === undefined || word.text === "--" || !word.text.startsWith("-")) break;
    if (SUDO_TAKING.has(word.text)) {
      index++;
      continue;
    }
    if (SUDO_READS.test(word.text)) reads = true;
    if (/^(?:-[nEHPbk]*[SA]\w*|--stdin|--askpass)$/.test(word.text))
      return danger("account.sudo-password", "hands a password to sudo by a program or a pipe", word);
    if (!reads && /^(?:-[nEHPbk]*[is]|--login|--shell)$/.test(word.text))
      return danger("account.root-shell", SHELL, word);
    if (/^(?:-[nEHk]*e|--edit)$/.test(word.text))
      return danger("account.root-edit", "edits a file with the rights of root", word);
  }
  return undefined;
};

/** Without a command `su` opens a shell; the command of `su -c` is judged on its own. */
const su: Rule = ({ args }) =>
  explainsAnywhere(args) ||
  args.some(({ text }) => /^(?:-c|--command|--session-command)/.test(text) || /^-[a-zA-Z]*c$/.test(text))
    ? undefined
    : danger("account.root-shell", SHELL, args[0]);

/** `sudo bash`: nothing says what the shell is to do. */
const rootShell: Rule = ({ args, wrappers, input }) =>
  input.kind === "none" &&
  wrappers.some(({ kind }) => kind === "root") &&
  args.every(({ text }) => /^-[il]+$|^--login$/.test(text))
    ? danger("account.root-shell", SHELL)
    : undefined;

const doas: Rule = ({ args }) => {
  const shell = args.find(({ text }) => text === "-s");
  return shell === undefined ? undefined : danger("account.root-shell", SHELL, shell);
};

const dscl: Rule = ({ args }) => {
  const verb = args.find(({ text }) =>
    /^-?(?:create|append|delete|passwd|change|changei|merge)$/i.test(text),
  );
  return verb === undefined ? undefined : danger("account.change", ACCOUNT, verb);
};

export const RULES: RuleSet = {
  family: "accounts",
  programs: {
    ...forPrograms(
      "usermod userdel deluser groupadd addgroup groupdel delgroup groupmod groupmems chpasswd chgpasswd vipw vigr " +
        "newusers pwconv pwunconv luseradd lusermod luserdel lgroupadd lgroupdel useradd adduser chsh chfn smbpasswd",
      (command) =>
        command.program === "useradd" && command.args.length === 1 && command.args[0]?.text === "-D"
          ? undefined
          : unlessReading("-l --list-shells")(command),
    ),
    gpasswd: unlessReading("-h"),
    passwd: unlessReading("-S --status -Sa"),
    chage: unlessReading("-l --list"),
    visudo: unlessReading("-c --check -V -cf -qc -cq"),
    ...forPrograms("sh bash zsh dash ksh fish", rootShell),
    sudo,
    doas,
    ...forPrograms("su runuser", su),
    sudoedit: ({ args }) =>
      explainsAnywhere(args)
        ? undefined
        : danger("account.root-edit", "edits a file with the rights of root", args[0]),
    dscl,
    sysadminctl: ({ args }) => {
      const change = args.find(({ text }) =>
        /^-(?:addUser|deleteUser|resetPasswordFor|newPassword|secureTokenO|guestAccount)/i.test(text),
      );
      return change === undefined ? undefined : danger("account.change", ACCOUNT, change);
    },
    dseditgroup: ({ args }) =>
      args.some(({ text }) => /^(?:create|delete|edit)$/.test(text))
        ? danger("account.change", ACCOUNT)
        : undefined,
    pw: verbRule({
      rule: "account.change",
      reason: ACCOUNT,
      verbs: "useradd userdel usermod groupadd groupdel groupmod lock unlock",
    }),
    ...forPrograms(
      "samba-tool ipa realm",
      verbRule({
        rule: "account.change",
        reason: ACCOUNT,
        verbs: "delete add create setpassword join leave user-del user-add user-mod passwd disable enable",
        at: -1,
      }),
    ),
    ...forPrograms("authselect authconfig pam-auth-update", ({ args }) =>
      explainsAnywhere(args) || /^(?:current|list|show|check|test)$/.test(operandsOf(args)[0]?.text ?? "")
        ? undefined
        : danger("account.login", "changes how users log in"),
    ),
    faillock: ({ args }) =>
      args.some(({ text }) => text === "--reset")
        ? danger("account.login", "changes how users log in")
        : undefined,
  },
};
