import { accessSync, constants, readdirSync } from "node:fs";
import { join } from "node:path";
import { findProgram } from "./find-program.js";

/** In the order they are preferred: the one that nobody uses for anything else first. */
const NAMES = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
  "chrome",
  "microsoft-edge",
  "microsoft-edge-stable",
  "msedge",
];

const MAC_PROGRAMS = [
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
];

/** Where packages put it that the path of a service or a cron job may not lead to. */
const LINUX_PROGRAMS = ["/snap/bin/chromium", "/opt/google/chrome/chrome", "/opt/microsoft/msedge/msedge"];

const WINDOWS_PROGRAMS = [
  ["Chromium", "Application", "chrome.exe"],
  ["Google", "Chrome", "Application", "chrome.exe"],
  ["Microsoft", "Edge", "Application", "msedge.exe"],
];

/** The browser that the settings name, else the first Chromium, Chrome or Edge of this machine. */
export function findBrowser(options: {
  /** `browser.executable`; empty: none is named. */
  readonly executable?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The Hermes home, where `hermes setup browser` puts one. */
  readonly home?: string | undefined;
}): string | undefined {
  const { executable = "", env, home } = options;
  if (executable !== "")
    return isProgram(executable)
      ? executable
      : /[\\/]/.test(executable)
        ? undefined
        : findProgram(executable, env);
  for (const name of NAMES) {
    const found = findProgram(name, env);
    if (found !== undefined) return found;
  }
  return [...usualPlaces(env), ...(home === undefined ? [] : fetchedBrowsers(home))].find(isProgram);
}

/** Where `hermes setup browser` puts a browser. */
export function browsersFolder(home: string): string {
  return join(home, "browsers");
}

const FETCHED = [
  "chrome",
  "chrome.exe",
  "Chromium.app/Contents/MacOS/Chromium",
  "Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
];

/** `browsers/chromium-1234/chrome-linux64/chrome`, the newest first. */
function fetchedBrowsers(home: string): readonly string[] {
  const root = browsersFolder(home);
  return namesIn(root)
    .filter((name) => /^chromium-\d+$/.test(name))
    .sort((a, b) => Number(b.slice(9)) - Number(a.slice(9)))
    .flatMap((name) =>
      namesIn(join(root, name))
        .filter((part) => part.startsWith("chrome-"))
        .flatMap((part) => FETCHED.map((program) => join(root, name, part, program))),
    );
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function usualPlaces(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  if (process.platform === "darwin") return MAC_PROGRAMS;
  if (process.platform !== "win32") return LINUX_PROGRAMS;
  const roots = [env["PROGRAMFILES"], env["PROGRAMFILES(X86)"], env["LOCALAPPDATA"]];
  return roots.flatMap((root) =>
    root === undefined ? [] : WINDOWS_PROGRAMS.map((parts) => join(root, ...parts)),
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return /[\\/]/.test(path);
  } catch {
    return false;
  }
}
