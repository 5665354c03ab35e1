import { findProgram } from "../../../env/find-program.js";
import type { DesktopProgram } from "../desktop-program.js";

/** A clipboard of the machine, as the programs that reach it. */
export interface MachineClipboard {
  readonly backend: string;
  readonly read: DesktopProgram;
  readonly clear: DesktopProgram;
  write(text: string): DesktopProgram;
  /** What the reader complains about when there is simply nothing in it. */
  readonly emptyComplaint?: RegExp;
  /** The writer ends before its text is there; up to this many bytes one can look until it is. */
  readonly lookUpTo?: number;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The clipboard that a person at this machine uses, or nothing where there is no desktop. */
export function findClipboard({ platform, env }: Machine): MachineClipboard | undefined {
  const has = (program: string) => findProgram(program, env) !== undefined;
  if (platform === "darwin") return PASTEBOARD;
  if (platform === "win32") return windows("powershell");
  if (env.WAYLAND_DISPLAY && has("wl-copy") && has("wl-paste")) return WAYLAND;
  if (env.DISPLAY && has("xclip")) return XCLIP;
  if (env.DISPLAY && has("xsel")) return XSEL;
  // Linux inside of Windows has the clipboard of Windows.
  if (env.WSL_DISTRO_NAME && has("powershell.exe")) return windows("powershell.exe");
  return undefined;
}

const WAYLAND: MachineClipboard = {
  backend: "wl-clipboard",
  read: { argv: ["wl-paste", "--no-newline", "--type", "text"] },
  clear: { argv: ["wl-copy", "--clear"] },
  write: (text) => ({ argv: ["wl-copy", "--type", "text/plain"], stdin: text, staysBehind: true }),
  emptyComplaint: /nothing is copied|no selection|no suitable type/i,
};

const XCLIP: MachineClipboard = {
  backend: "xclip",
  read: { argv: ["xclip", "-selection", "clipboard", "-out"] },
  clear: { argv: ["xclip", "-selection", "clipboard", "-in"], stdin: "", staysBehind: true },
  write: (text) => ({ argv: ["xclip", "-selection", "clipboard", "-in"], stdin: text, staysBehind: true }),
  emptyComplaint: /target \S+ not available/i,
  lookUpTo: Number.POSITIVE_INFINITY,
};

const XSEL: MachineClipboard = {
  backend: "xsel",
  read: { argv: ["xsel", "--clipboard", "--output"] },
  clear: { argv: ["xsel", "--clipboard", "--clear"] },
  write: (text) => ({ argv: ["xsel", "--clipboard", "--input"], stdin: text, staysBehind: true }),
  // A longer text is handed over in pieces, and xsel gives up after doing so a few times.
  lookUpTo: 3_500,
};

const PASTEBOARD: MachineClipboard = {
  backend: "pbcopy",
  // Without it, text beyond ASCII is lost where no locale is set.
  read: { argv: ["pbpaste"], env: { LC_CTYPE: "UTF-8" } },
  clear: { argv: ["pbcopy"], stdin: "" },
  write: (text) => ({ argv: ["pbcopy"], stdin: text, env: { LC_CTYPE: "UTF-8" } }),
};

function windows(program: string): MachineClipboard {
  const run = (script: string, stdin = ""): DesktopProgram => ({
    argv: [program, "-NoProfile", "-NonInteractive", "-Command", script],
    stdin,
  });
  const utf8 = "[Console]::InputEncoding = [Console]::OutputEncoding = New-Object Text.UTF8Encoding $false; ";
  return {
    backend: "powershell",
    read: run(`${utf8}[Console]::Out.Write((Get-Clipboard -Raw))`),
    clear: run("Add-Type -AssemblyName System.Windows.Forms; [Windows.Forms.Clipboard]::Clear()"),
    write: (text) => run(`${utf8}Set-Clipboard -Value ([Console]::In.ReadToEnd())`, text),
  };
}
