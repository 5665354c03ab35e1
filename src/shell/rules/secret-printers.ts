import { parseOptions } from "../read/options.js";
import type { Rule } from "../types.js";
import { isCredentialFile } from "./places.js";
import { danger, has, valuesOf, verbRule } from "./verb-table.js";

const PRINTS = "prints a stored password, key or token";

/** Programs that keep secrets and print them when asked. */
export const SECRET_PRINTERS: Readonly<Record<string, Rule>> = {
  security: (command) => {
    const options = parseOptions(command.args, { taking: ["a", "s", "l", "D"] });
    const verb = options.operands[0];
    const prints = /^find-(?:generic|internet)-password$/.test(verb?.text ?? "") && has(options, "w", "g");
    const dumps = /^(?:dump-keychain|export)$/.test(verb?.text ?? "");
    return prints || dumps ? danger("credentials.keychain", PRINTS, verb) : undefined;
  },
  op: verbRule({
    family: "credentials",
    taking: ["account", "vault", "fields", "format"],
    verbs: [
      { path: "read", reason: PRINTS },
      { path: "item get", reason: PRINTS, when: (call) => has(call, "reveal", "fields", "otp") },
      { path: "document get", reason: PRINTS },
    ],
  }),
  pass: verbRule({ family: "credentials", verbs: [{ path: "show", reason: PRINTS }] }),
  bw: verbRule({
    family: "credentials",
    taking: ["session"],
    verbs: [
      { path: "get password|totp|notes|item", reason: PRINTS },
      { path: "export", reason: PRINTS },
    ],
  }),
  lpass: verbRule({ family: "credentials", verbs: [{ path: "show|export", reason: PRINTS }] }),
  gopass: verbRule({ family: "credentials", verbs: [{ path: "show", reason: PRINTS }] }),
  "secret-tool": verbRule({ family: "credentials", verbs: [{ path: "lookup|search", reason: PRINTS }] }),
  "keepassxc-cli": verbRule({
    family: "credentials",
    taking: ["k", "a"],
    verbs: [{ path: "show|export|clip", reason: PRINTS }],
  }),
  "ssh-keygen": (command) => {
    const options = parseOptions(command.args, {
      taking: ["f", "t", "b", "C", "N", "P", "m", "O", "I", "n", "V"],
    });
    const [file] = valuesOf(options, "f");
    if (
      file !== undefined &&
      isCredentialFile(file) &&
      command.input.kind !== "none" &&
      !has(options, "y", "l", "R", "F", "e", "i")
    )
      return danger("credentials.key", "writes over a key", file);
    if (has(options, "y") && (file === undefined || isCredentialFile(file)))
      return danger("credentials.key", "reads a private key", file);
    return has(options, "p") && valuesOf(options, "N").some(({ text }) => text === "")
      ? danger("credentials.key", "removes the password of a key", undefined)
      : undefined;
  },
  gpg: (command) => exportsKeys(command.args.map(({ text }) => text)),
  gpg2: (command) => exportsKeys(command.args.map(({ text }) => text)),
  mimikatz: () => danger("credentials.dump", PRINTS),
  "git-credential": () => danger("credentials.keychain", PRINTS),
  cmdkey: ({ args }) =>
    args.some(({ text }) => /^\/(?:add|delete)/i.test(text))
      ? danger("credentials.keychain", "changes stored passwords")
      : undefined,
  unshadow: () => danger("credentials.dump", PRINTS),
  john: () => danger("credentials.dump", "guesses passwords"),
  hashcat: () => danger("credentials.dump", "guesses passwords"),
  gcore: () => danger("credentials.dump", "copies the memory of a process"),
};

function exportsKeys(options: readonly string[]): ReturnType<Rule> {
  return options.some((text) => /^--export-secret-(?:keys|subkeys)$/.test(text))
    ? danger("credentials.key", PRINTS)
    : undefined;
}
