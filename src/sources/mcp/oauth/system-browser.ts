import { spawn } from "node:child_process";

/** Shows an address in the person's browser. False when this machine has no program for that. */
export function openSystemBrowser(
  address: URL,
  platform: NodeJS.Platform = process.platform,
): Promise<boolean> {
  // The address was named by a server: anything else than the web could start any program.
  if (address.protocol !== "https:" && address.protocol !== "http:") return Promise.resolve(false);
  const [program, ...args] = openerOf(platform);
  return new Promise((resolve) => {
    // No shell between: the address is one argument, whatever it holds.
    const child = spawn(program, [...args, address.href], { stdio: "ignore", detached: true, shell: false });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

function openerOf(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}
