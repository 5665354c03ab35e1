import type { ShellWord } from "../types.js";
import {
  isCredentialFile,
  isCredentialStore,
  isHomeLike,
  isSomeonesHome,
  isSystemConfig,
  isSystemPath,
  isVital,
} from "./places.js";
import { type Call, type Condition, names, subject } from "./row.js";
import { placeOf } from "./segments.js";

const WORLD = "lets every user write";
const BORROWS = "lets a program run with the rights of its owner";
const TREE = "changes the rights of a home or of the system";
const ATTRIBUTES = "locks files or takes their protection away";

/** No honest mode is longer; one that is gets the strictest reading. */
const LONGEST_MODE = 200;

type Gift = "write" | "special" | "nothing" | "reading";

/** What a mode gives away; modes that take rights (`go-w`) or give them to the owner only are harmless. */
function modeGives(mode: string): Gift | undefined {
  if (mode.length > LONGEST_MODE) return "write";
  const octal = /^[+=]?([0-7]{1,5})$/.exec(mode)?.[1];
  if (octal !== undefined) return octalGives(octal);
  let reading = false;
  for (const clause of mode.split(",")) {
    const match = /^([ugoa]*)((?:[-+=][rwxXstugo0-7]*)+)$/.exec(clause);
    if (match === null) continue;
    const who = match[1] ?? "";
    for (const [, sign, rights] of (match[2] ?? "").matchAll(/([-+=])([rwxXstugo0-7]*)/g)) {
      if (sign === "-" || rights === undefined) continue;
      if (rights.includes("s") && who !== "o") return "special";
      if (/[oa]/.test(who) && /[wu]/.test(rights)) return "write";
      if (/[goa]/.test(who) && rights.includes("r")) reading = true;
    }
  }
  return reading ? "reading" : undefined;
}

function octalGives(mode: string): Gift | undefined {
  const bits = Number.parseInt(mode, 8);
  if ((bits & 0o002) !== 0) return "write";
  if ((bits & 0o6000) !== 0) return "special";
  if ((bits & 0o777) === 0) return "nothing";
  return (bits & 0o044) !== 0 ? "reading" : undefined;
}

/** A whole tree somebody else needs: the machine's, or a home. */
function isWholeTree(word: ShellWord): boolean {
  const { anchor, segments } = placeOf(word);
  const top =
    anchor === "root" &&
    segments.length === 1 &&
    !/^(?:tmp|app|workspaces?|code|src|data)$/.test(segments[0] ?? "");
  return top || isVital(word) || isHomeLike(word) || isSomeonesHome(word) || isSystemPath(word);
}

/** A secret in its proper place; a certificate of the project may well be readable. */
function isKey(word: ShellWord): boolean {
  const isFolder = placeOf(word).segments.at(-1)?.startsWith(".") === true;
  return isCredentialFile(word) && (isSystemPath(word) || (isCredentialStore(word) && !isFolder));
}

/** Files of `/etc` that every login and every look-up reads. */
const EVERYONES = names("passwd group hosts fstab resolv.conf nsswitch.conf profile ld.so.preload pam.d");

interface Change {
  readonly recursive: boolean;
  /** The mode or the owner; none with `--reference`, or when rights are taken by an option (`chmod -w x`). */
  readonly to: ShellWord | undefined;
  readonly files: readonly ShellWord[];
}

/** `chmod -w x` takes rights by what looks like an option. */
const taken = (call: Call): ShellWord | undefined => call.find(/^-[rwxXst]+$/);

function changeOf(call: Call): Change {
  const isGiven = call.has("reference") || (/chmod$/.test(call.command.program) && taken(call) !== undefined);
  const to = isGiven ? undefined : call.operands[0];
  return {
    recursive: call.has("R", "recursive"),
    to,
    files: to === undefined ? call.operands : call.operands.slice(1),
  };
}

const changing =
  (find: (change: Change, call: Call) => ReturnType<Condition>): Condition =>
  (call) =>
    find(changeOf(call), call);
const giving = (gift: Gift): Condition =>
  changing(({ to }) => (to !== undefined && modeGives(to.text) === gift ? to : undefined));

/** The mode given while a file is made: `install -m 4755`, `mkdir -m 777`. */
const madeWith =
  (gift: Gift): Condition =>
  (call) => {
    const mode = (call.values.get("m") ?? call.values.get("mode"))?.at(-1);
    return mode !== undefined && modeGives(mode.text) === gift ? mode : undefined;
  };

const weakensSystem = changing(({ to, files }, call) => {
  const weakens =
    taken(call) !== undefined || /(?:^|,)[ugoa]*(?:-[rwxXst]*[rx]|[+=][rxXst]*w)/.test(to?.text ?? "");
  return files.find(
    (word) =>
      isSystemPath(word) &&
      (weakens || isCredentialFile(word) || EVERYONES.has(placeOf(word).segments[1] ?? "")),
  );
});

const ownedByRoot = changing(({ recursive, to }, { command }) => {
  const privileged = command.program.endsWith("chgrp")
    ? /^(?:root|wheel|sudo|admin|docker|shadow|disk|0)$/
    : /^(?:root|0)?(?:[:.].*)?$|[:.](?:root|wheel|0)$/;
  const text = to?.text ?? "";
  return recursive && privileged.test(text) && /root|wheel|sudo|admin|docker|shadow|disk|\b0\b/.test(text)
    ? to
    : undefined;
});

/** Rights and owners of files. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("permissions", [
  { program: "chmod|gchmod", taking: "reference",
    long: "recursive reference changes verbose silent quiet preserve-root no-preserve-root", dry: "",
    not_match: ["chmod u-s x", "chmod o=r x"], rows: [
    { when: giving("write"), rule: "permissions.world-writable", reason: WORLD, match: ["chmod 662 x"],
      not_match: ["chmod +w x"] },
    { when: giving("special"), rule: "permissions.special", reason: BORROWS, match: ["chmod +s x"],
      not_match: ["chmod -w x"] },
    { when: changing(({ recursive, files }) => (recursive ? files.find(isWholeTree) : undefined)),
      rule: "permissions.tree", reason: TREE, match: ["chmod -R 755 /"], not_match: ["chmod 664 x"] },
    { when: changing(({ recursive, to }) => (recursive && to?.known === false ? to : undefined)),
      rule: "permissions.unknown", reason: "changes the rights of a tree in a way nobody can foresee",
      match: ["chmod -R $MODE src"], not_match: ["chmod a+r x"] },
    { when: giving("nothing"), rule: "permissions.locked", reason: "takes all rights away",
      match: ["chmod 000 x"], not_match: ["chmod g+w x"] },
    { when: changing(({ to, files }) => modeGives(to?.text ?? "") === "reading" ? files.find(isKey) : undefined),
      rule: "permissions.secret", reason: "lets others read keys or passwords",
      match: ["chmod 644 /etc/shadow"], not_match: ["chmod a-w x"] },
    { when: weakensSystem, rule: "permissions.system", reason: "changes the rights of system files",
      match: ["chmod +w /etc/passwd"], not_match: ["chmod o-w x"] },
  ] },
  { program: "chown|gchown|chgrp|gchgrp", taking: "from reference",
    long: "recursive reference from dereference no-dereference", dry: "",
    not_match: ["chgrp www-data x", "chown bob:staff x"], rows: [
    { when: ownedByRoot, rule: "permissions.owner-root", reason: "hands a whole tree to the administrator",
      match: ["chown -R 0 x"], not_match: ["chown :staff x"] },
    { when: changing(({ recursive, files }) =>
          files.find((word) => (recursive ? isWholeTree(word) : isVital(word) || isSystemPath(word))),
        ),
      rule: "permissions.owner-system", reason: "changes who owns a home or a part of the system",
      match: ["chown -R $USER ~"], not_match: ["chown alice file"] },
  ] },
  { program: "mkdir|install", taking: "m mode t o g S Z", long: "mode", dry: "",
    not_match: ["mkdir -p etc/nginx", "install -d build/out"], rows: [
    { when: ({ command, operands }) => command.program === "mkdir" ? operands.find(isSystemConfig) : undefined,
      rule: "system.config", reason: "writes to the settings of the operating system",
      match: ["mkdir -p /etc/systemd/system/x.service.d"], not_match: ["mkdir -m 755 x"] },
    { when: madeWith("write"), rule: "permissions.world-writable", reason: WORLD, match: ["mkdir -m 0777 x"],
      not_match: ["mkdir -p /tmp/x"] },
    { when: madeWith("special"), rule: "permissions.special", reason: BORROWS, match: ["install -m u+s x y"],
      not_match: ["mkdir -p ~/.ssh"] },
  ] },
  { program: "chattr", dry: "", word: /^(?!-[RVf]+$)[-+=][a-zA-Z]*[ia]/, rule: "permissions.attributes",
    reason: ATTRIBUTES, match: ["chattr +i f"] },
  { program: "chflags", dry: "", when: ({ operands }) =>
      operands.some((word) => isSystemConfig(word) || /^(?:no)?[su]chg/.test(word.text)) ? {} : undefined,
    rule: "permissions.attributes", reason: ATTRIBUTES, match: ["chflags nouchg x"] },
  { program: "setfacl", taking: "m x M X modify remove modify-file set",
    long: "modify remove remove-all recursive set restore test", dry: "test", rows: [
    { when: (call) =>
        call
          .given("m", "modify", "set")
          .find(({ text }) =>
            /(?:^|,)(?:(?:d(?:efault)?:)?o(?:ther)?::?|(?:u|user):(?:nobody|everyone):)[rx-]*[w67]/.test(
              text,
            ),
          ),
      rule: "permissions.world-writable", reason: WORLD, match: ["setfacl -m o::rwx f"],
      not_match: ["setfacl -m u:alice:rx x"] },
    { when: ({ operands }) => operands.find(isWholeTree), rule: "permissions.tree", reason: TREE,
      match: ["setfacl -m u:bob:rw /etc"], not_match: ["setfacl -m u:alice:rx x"] },
  ] },
  { program: "umask", dry: "", path: "*", when: ({ operands: [mask] }) =>
      /^[0-7]+$/.test(mask?.text ?? "")
        ? (Number.parseInt(mask?.text ?? "", 8) & 0o2) === 0
        : modeGives(mask?.text ?? "") === "write",
    rule: "permissions.umask", reason: "makes every new file writable for every user", match: ["umask 0"],
    not_match: ["umask"] },
  { program: "setcap", dry: "", unless: /^-v$/, word: /./, rule: "permissions.special",
    reason: "gives a program special rights", match: ["setcap cap_setuid+ep /usr/bin/python3"] },
]);
