import { UNKNOWN } from "../types.js";
import { isForeignRepository } from "./addresses.js";

/** Programs that only show or edit text: naming one as pager, editor or ssh client changes nothing else. */
const PLAIN_PROGRAMS = new Set(
  (
    "vim nvim vi nano pico emacs emacsclient code code-insiders cursor subl atom mate micro hx helix kak ed joe " +
    "gedit kate notepad notepad++ idea pycharm webstorm zed windsurf true : less more cat most bat batcat delta " +
    "diff-so-fancy lv col ssh plink gpg gpg2 meld kdiff3 vimdiff nvimdiff opendiff difft difftastic git-lfs"
  ).split(" "),
);

const RUNS_A_PROGRAM =
  /^(?:core\.(?:pager|editor|sshcommand|askpass|gitproxy|alternaterefscommand)|pager\..+|sequence\.editor|gpg(?:\..+)?\.program|gpg\.ssh\.defaultkeycommand|diff\.external|diff\..+\.(?:command|textconv)|(?:diff|merge|gui|browser|man)tool\..+\.(?:cmd|path)|(?:browser|man)\..+\.(?:cmd|path)|merge\..+\.driver|filter\..+\.(?:clean|smudge|process)|interactive\.difffilter|trailer\..+\.(?:command|cmd)|tar\..+\.command|hook\..+\.command|guitool\..+\.cmd|remote\..+\.(?:uploadpack|receivepack|vcs)|sendemail\..*(?:cmd|smtpserver)|uploadpack\.packobjectshook|pack\.packobjectshook|web\.browser|instaweb\.httpd|imap\.tunnel|receive\.procreceiverefs)$/;
const LOADS_MORE = /^(?:include\.path|includeif\..+\.path|core\.hookspath|init\.templatedir|core\.worktree)$/;

/**
 * Why setting `name` to `value` matters beyond looks: git will start a program, read another file of
 * settings, or trust less carefully. Undefined for settings that do none of this.
 */
export function riskOfSetting(name: string, value: string): string | undefined {
  const key = name.toLowerCase();
  if (key === "core.fsmonitor") return isSwitch(value) ? undefined : "makes git run a program later";
  if (RUNS_A_PROGRAM.test(key)) return isPlainProgram(value) ? undefined : "makes git run a program later";
  if (LOADS_MORE.test(key))
    return value === "" ? undefined : "makes git use hooks or settings from elsewhere";
  if (/^credential(?:\..+)?\.helper$/.test(key))
    return /^!|[/\\]/.test(value) || value.includes(UNKNOWN) ? "hands git passwords to a program" : undefined;
  if (/^alias\..+$/.test(key))
    return value.startsWith("!") ? "hides a shell command in a git alias" : undefined;
  if (/^submodule\..+\.update$/.test(key))
    return value.startsWith("!") ? "makes git run a program later" : undefined;
  if (/^url\..+\.(?:insteadof|pushinsteadof)$/.test(key))
    return hostOf(key.slice(4, key.lastIndexOf("."))) === hostOf(value)
      ? undefined
      : "sends git traffic to another address";
  if (/^remote\..+\.push$/.test(key))
    return value.startsWith("+") ? "overwrites what others have of the branches" : undefined;
  if (/^remote\..+\.mirror$/.test(key))
    return /^(?:true|1|yes|on)$/i.test(value) ? "overwrites what others have of the branches" : undefined;
  if (/^remote\..+\.pushurl$/.test(key))
    return isForeignRepository(value) ? "sends the repository to another address" : undefined;
  if (/^protocol(?:\..+)?\.allow$/.test(key))
    return value === "always" ? "lets git addresses run programs" : undefined;
  if (/^(?:https?(?:\..+)?|remote\..+)\.proxy$/.test(key))
    return value === "" ||
      /^(?:\w+:\/\/)?(?:[^@/]*@)?(?:localhost|127\.|\[::1\]|[a-z][\w-]*(?::\d+)?\/?$)/i.test(value)
      ? undefined
      : "sends git traffic through another machine";
  if (key === "safe.directory")
    return value === "*" ? "lets git obey the settings of folders that belong to somebody else" : undefined;
  if (key === "clean.requireforce")
    return /^(?:false|0|no|off)$/i.test(value) ? "lets git delete files without being told twice" : undefined;
  if (/^http(?:\..+)?\.sslverify$/.test(key))
    return /^(?:false|0|no|off)$/i.test(value) ? "stops git checking certificates" : undefined;
  return undefined;
}

/** `ext::` addresses are commands that git starts. */
export function isCommandAddress(text: string): boolean {
  return /^(?:ext|fd)::/i.test(text);
}

/** True for a well-known viewer, editor or client with harmless options. */
export function isPlainProgram(value: string): boolean {
  if (value.trim() === "" || isSwitch(value)) return true;
  if (/[;&|<>`$()\n\uFFFC]/.test(value)) return false;
  if (/proxycommand|localcommand|stricthostkeychecking\s*[= ]\s*no|userknownhostsfile/i.test(value))
    return false;
  const [program = ""] = value.trim().split(/\s+/);
  const name = program.replace(/^["']|["']$/g, "");
  if (name.includes("/") && !/^\/(?:usr\/(?:local\/)?)?bin\/[^/]+$/.test(name)) return false;
  return PLAIN_PROGRAMS.has(name.slice(name.lastIndexOf("/") + 1).replace(/\.exe$/i, ""));
}

function isSwitch(value: string): boolean {
  return /^(?:true|false|yes|no|on|off|0|1|)$/i.test(value);
}

function hostOf(address: string): string {
  const bare = address
    .toLowerCase()
    .replace(/^[a-z+]+:\/\//, "")
    .replace(/^[^@/]*@/, "");
  return /^[^:/]*/.exec(bare)?.[0] ?? "";
}
