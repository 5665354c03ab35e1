import { spawn } from "node:child_process";

/** What the programs of a desktop need to find it; keys and tokens of this process are not theirs. */
const INHERITED =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TMPDIR|DISPLAY|WAYLAND_DISPLAY|XAUTHORITY|XDG_(?:RUNTIME_DIR|DATA_HOME|DATA_DIRS|CONFIG_HOME|CURRENT_DESKTOP|SESSION_TYPE)|DBUS_SESSION_BUS_ADDRESS|SYSTEMROOT|WINDIR|COMSPEC|PATHEXT|TEMP|TMP|USERPROFILE|APPDATA|LOCALAPPDATA|WSL\w*)$/i;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;

export interface DesktopProgram {
  readonly argv: readonly [program: string, ...args: string[]];
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** It goes on in the background to serve what it was given; nothing it prints is waited for. */
  readonly staysBehind?: boolean;
}

export interface DesktopAnswer {
  readonly ok: boolean;
  readonly output: string;
  /** The last thing it complained about. */
  readonly problem: string;
}

/** Runs a program of the machine that the runtime runs on, by its words and never through a shell. */
export function runDesktopProgram(
  program: DesktopProgram,
  options: { readonly signal: AbortSignal; readonly timeoutMs: number },
): Promise<DesktopAnswer> {
  const [file, ...args] = program.argv;
  const inherited = Object.entries(process.env).filter(([name]) => INHERITED.test(name));
  return new Promise((resolve) => {
    const child = spawn(file, args, {
      env: { ...Object.fromEntries(inherited), ...program.env },
      stdio: ["pipe", program.staysBehind === true ? "ignore" : "pipe", "pipe"],
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]),
      killSignal: "SIGKILL",
      windowsHide: true,
    });
    const printed: Buffer[] = [];
    const complaints: Buffer[] = [];
    let size = 0;
    const finish = (ok: boolean, failed?: Error) => {
      child.stderr?.destroy();
      const lines = Buffer.concat(complaints).toString("utf8").trim().split("\n");
      resolve({
        ok,
        output: Buffer.concat(printed).toString("utf8"),
        problem: failed?.message ?? lines.at(-1) ?? "",
      });
    };
    child.stdout?.on("data", (bytes: Buffer) => {
      size += bytes.length;
      if (size <= MAX_OUTPUT_BYTES) printed.push(bytes);
      else child.kill("SIGKILL");
    });
    child.stderr?.on("data", (bytes: Buffer) => {
      if (complaints.length < 100) complaints.push(bytes);
    });
    child.on("error", (error) => finish(false, error));
    child.on(program.staysBehind === true ? "exit" : "close", (code) => finish(code === 0));
    // A program that does not read its input is no failure of its own.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(program.stdin ?? "");
  });
}
