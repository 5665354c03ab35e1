import { parseOptions } from "../read/options.js";
import type { Finding, Rule, RuleSet, ShellWord } from "../types.js";
import {
  isCredentialFile,
  isCredentialStore,
  isHomeLike,
  isSomeonesHome,
  isSystemConfig,
  isSystemPath,
  isVital,
} from "./places.js";
import { placeOf } from "./segments.js";
import { danger, forPrograms, onlyExplains, operandsOf } from "./words.js";

/** No honest mode is longer; one that is gets the strictest reading. */
const LONGEST_MODE = 200;

/** What a mode gives away; modes that take rights (`go-w`) or give them to the owner only are harmless. */
function modeGives(mode: string): "write" | "special" | "nothing" | "reading" | undefined {
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

function octalGives(mode: string): "write" | "special" | "nothing" | "reading" | undefined {
  const bits = Number.parseInt(mode, 8);
  if ((bits & 0o002) !== 0) return "write";
  if ((bits & 0o6000) !== 0) return "special";
  if ((bits & 0o777) === 0) return "nothing";
  return (bits & 0o044) !== 0 ? "reading" : undefined;
}

function modeFinding(word: ShellWord): Finding | undefined {
  const gives = modeGives(word.text);
  if (gives === "write") return danger("permissions.world-writable", "lets every user write", word);
  return gives === "special"
    ? danger("permissions.special", "lets a program run with the rights of its owner", word)
    : undefined;
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
const EVERYONES = new Set(
  "passwd group hosts fstab resolv.conf nsswitch.conf profile ld.so.preload pam.d".split(" "),
);

const CHMOD_LONG = "recursive reference changes verbose silent quiet preserve-root no-preserve-root".split(
  " ",
);

const chmod: Rule = ({ args }) => {
  if (onlyExplains(args)) return undefined;
  const { flags, operands } = parseOptions(args, { taking: ["reference"], long: CHMOD_LONG });
  const recursive = flags.has("R") || flags.has("recursive");
  const takes = args.find(({ text }) => /^-[rwxXst]+$/.test(text));
  const byReference = flags.has("reference");
  const mode = takes === undefined && !byReference ? operands[0] : undefined;
  const files = mode === undefined ? operands : operands.slice(1);
  const given = mode === undefined ? undefined : modeFinding(mode);
  if (given !== undefined) return given;
  const tree = recursive ? files.find(isWholeTree) : undefined;
  if (tree !== undefined)
    return danger("permissions.tree", "changes the rights of a home or of the system", tree);
  if (recursive && mode !== undefined && !mode.known)
    return danger("permissions.unknown", "changes the rights of a tree in a way nobody can foresee", mode);
  const gives = mode === undefined ? undefined : modeGives(mode.text);
  if (gives === "nothing") return danger("permissions.locked", "takes all rights away", mode);
  const secret = gives === "reading" ? files.find(isKey) : undefined;
  if (secret !== undefined) return danger("permissions.secret", "lets others read keys or passwords", secret);
  const weakens =
    takes !== undefined || /(?:^|,)[ugoa]*(?:-[rwxXst]*[rx]|[+=][rxXst]*w)/.test(mode?.text ?? "");
  const system = files.find(
    (word) =>
      isSystemPath(word) &&
      (weakens || isCredentialFile(word) || EVERYONES.has(placeOf(word).segments[1] ?? "")),
  );
  return system === undefined
    ? undefined
    : danger("permissions.system", "changes the rights of system files", system);
};

const chown: Rule = ({ program, args }) => {
  if (onlyExplains(args)) return undefined;
  const { flags, operands } = parseOptions(args, {
    taking: ["from", "reference"],
    long: ["recursive", "reference", "from", "dereference", "no-dereference"],
  });
  const recursive = flags.has("R") || flags.has("recursive");
  const owner = flags.has("reference") ? undefined : operands[0];
  const files = owner === undefined ? operands : operands.slice(1);
  const privileged = program.endsWith("chgrp")
    ? /^(?:root|wheel|sudo|admin|docker|shadow|disk|0)$/
    : /^(?:root|0)?(?:[:.].*)?$|[:.](?:root|wheel|0)$/;
  if (
    recursive &&
    owner !== undefined &&
    privileged.test(owner.text) &&
    /root|wheel|sudo|admin|docker|shadow|disk|\b0\b/.test(owner.text)
  )
    return danger("permissions.owner-root", "hands a whole tree to the administrator", owner);
  const tree = files.find((word) => (recursive ? isWholeTree(word) : isVital(word) || isSystemPath(word)));
  return tree === undefined
    ? undefined
    : danger("permissions.owner-system", "changes who owns a home or a part of the system", tree);
};

const setfacl: Rule = ({ args }) => {
  const { flags, values, operands } = parseOptions(args, {
    taking: ["m", "x", "M", "X", "modify", "remove", "modify-file", "set"],
    long: ["modify", "remove", "remove-all", "recursive", "set", "restore", "test"],
  });
  if (flags.has("test")) return undefined;
  const entries = [...(values.get("m") ?? []), ...(values.get("modify") ?? []), ...(values.get("set") ?? [])];
  const open = entries.find(
    ({ text }) =>
      /(?:^|,)(?:d(?:efault)?:)?o(?:ther)?::?[rx-]*[w67]/.test(text) ||
      /(?:^|,)(?:u|user):(?:nobody|everyone):[rx-]*[w67]/.test(text),
  );
  if (open !== undefined) return danger("permissions.world-writable", "lets every user write", open);
  const tree = operands.find(isWholeTree);
  return tree === undefined
    ? undefined
    : danger("permissions.tree", "changes the rights of a home or of the system", tree);
};

const chattr: Rule = ({ args }) => {
  const change = args.find(({ text }) => /^[-+=][a-zA-Z]*[ia]/.test(text) && !/^-[RVf]+$/.test(text));
  return change === undefined
    ? undefined
    : danger("permissions.attributes", "locks files or takes their protection away", change);
};

const umask: Rule = ({ args }) => {
  const [mask] = operandsOf(args);
  if (mask === undefined) return undefined;
  const open = /^[0-7]+$/.test(mask.text)
    ? (Number.parseInt(mask.text, 8) & 0o2) === 0
    : modeGives(mask.text) === "write";
  return open ? danger("permissions.umask", "makes every new file writable for every user", mask) : undefined;
};

/** `install -m 4755`, `mkdir -m 777`: the mode given while a file is made. */
const madeWithMode: Rule = ({ args }) => {
  const { values } = parseOptions(args, { taking: ["m", "mode", "t", "o", "g", "S"], long: ["mode"] });
  const mode = (values.get("m") ?? values.get("mode"))?.at(-1);
  return mode === undefined ? undefined : modeFinding(mode);
};

const setcap: Rule = ({ args }) =>
  onlyExplains(args) || args.some(({ text }) => text === "-v") || args.length === 0
    ? undefined
    : danger("permissions.special", "gives a program special rights", args[0]);

export const RULES: RuleSet = {
  family: "permissions",
  programs: {
    ...forPrograms("chmod gchmod", chmod),
    ...forPrograms("chown gchown chgrp gchgrp", chown),
    ...forPrograms("install mkdir", madeWithMode),
    ...forPrograms("chattr chflags", (command) =>
      command.program === "chflags"
        ? operandsOf(command.args).some((word) => isSystemConfig(word) || /^(?:no)?[su]chg/.test(word.text))
          ? danger("permissions.attributes", "locks files or takes their protection away")
          : undefined
        : chattr(command),
    ),
    setfacl,
    umask,
    setcap,
  },
};
