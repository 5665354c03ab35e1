// The browser of this machine.
import { spawnSync } from "node:child_process";

export function systemBrowser() {
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge"];
  for (const name of names) {
    const { status, stdout } = spawnSync("which", [name], { encoding: "utf8" });
    if (status === 0) return stdout.trim();
  }
  throw new Error("no Chromium, Chrome or Edge on PATH");
}
