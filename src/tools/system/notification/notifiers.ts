import { existsSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "../../../env/find-program.js";
import type { DesktopProgram } from "../desktop-program.js";

export interface Notice {
  readonly title: string;
  readonly message: string;
  readonly urgency: "low" | "normal" | "critical";
  /** Seconds it stays; the desktop decides when left out. */
  readonly timeout?: number | undefined;
}

export interface Notifier {
  readonly backend: string;
  show(notice: Notice): DesktopProgram;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** What shows notices on the desktop of this machine, or why nothing does. */
export function findNotifier({ platform, env }: Machine): Notifier | { readonly missing: string } {
  if (platform === "darwin") return MAC;
  if (platform === "win32") return windows("powershell");
  const has = (program: string) => findProgram(program, env) !== undefined;
  if (env.WSL_DISTRO_NAME && has("powershell.exe")) return windows("powershell.exe");
  if (!hasSessionBus(env)) return { missing: "this machine has no desktop session" };
  if (!has("notify-send")) return { missing: "notify-send is not installed (Debian: libnotify-bin)" };
  return FREEDESKTOP;
}

/** Notices go over the bus of the person's login; without one notify-send may try to start its own. */
function hasSessionBus(env: Machine["env"]): boolean {
  if (env.DBUS_SESSION_BUS_ADDRESS) return true;
  return env.XDG_RUNTIME_DIR !== undefined && existsSync(join(env.XDG_RUNTIME_DIR, "bus"));
}

const FREEDESKTOP: Notifier = {
  backend: "notify-send",
  show: ({ title, message, urgency, timeout }) => ({
    argv: [
      "notify-send",
      "--app-name=Hermes",
      `--urgency=${urgency}`,
      ...(timeout === undefined ? [] : [`--expire-time=${Math.round(timeout * 1000)}`]),
      // Whatever begins with a dash behind this is text.
      "--",
      title,
      asBody(message),
    ],
  }),
};

/** notify-send undoes backslashes, and desktops read the body as markup. */
function asBody(message: string): string {
  return message
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("\\", "\\\\");
}

const MAC: Notifier = {
  backend: "osascript",
  show: ({ title, message }) => ({
    argv: [
      "osascript",
      "-e",
      "on run argv",
      "-e",
      "display notification (item 2 of argv) with title (item 1 of argv)",
      "-e",
      "end run",
      "--",
      title,
      message,
    ],
  }),
};

/** Texts travel as variables, so nothing of them is ever read as a script. */
const TOAST = `
$ErrorActionPreference = 'Stop'
$manager = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$xml = $manager::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$lines = $xml.GetElementsByTagName('text')
[void]$lines.Item(0).AppendChild($xml.CreateTextNode($env:HERMES_NOTICE_TITLE))
[void]$lines.Item(1).AppendChild($xml.CreateTextNode($env:HERMES_NOTICE_MESSAGE))
$toast = New-Object Windows.UI.Notifications.ToastNotification $xml
if ($env:HERMES_NOTICE_SECONDS) {
  $toast.ExpirationTime = [DateTimeOffset]::Now.AddSeconds([double]$env:HERMES_NOTICE_SECONDS)
}
$manager::CreateToastNotifier('Windows PowerShell').Show($toast)
`.trim();

function windows(program: string): Notifier {
  return {
    backend: "powershell",
    show: ({ title, message, timeout }) => ({
      argv: [program, "-NoProfile", "-NonInteractive", "-Command", TOAST],
      env: {
        HERMES_NOTICE_TITLE: title,
        HERMES_NOTICE_MESSAGE: message,
        ...(timeout !== undefined && { HERMES_NOTICE_SECONDS: String(timeout) }),
        // How variables reach a Windows program that is started from Linux.
        WSLENV: "HERMES_NOTICE_TITLE:HERMES_NOTICE_MESSAGE:HERMES_NOTICE_SECONDS",
      },
    }),
  };
}
