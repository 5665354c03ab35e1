import { findBwrap } from "../sandbox/probe.js";
import type { Launcher } from "./launcher/launcher.js";

/** `inside` when it is there; then it waits until it has been looked at. */
const WAIT = ["/bin/sh", "-c", "echo inside; read -r line"];
/** Root must have it to make a further user namespace that has a root too; the sandbox drops it. */
const SET_FILE_CAPABILITIES = 1n << 31n;

interface Network {
  readonly launcher: Launcher;
  readonly boundary: number;
}

/**
 * A network for each session, with nothing but a loopback address: what one command serves there, the next one reaches.
 * Programs enter it before the sandbox is made around them.
 */
export class SessionNetworks {
  readonly #launcher: () => Promise<Launcher | undefined>;
  readonly #program: string | undefined;
  readonly #made = new Map<string, Promise<Network | undefined>>();

  constructor(options: {
    readonly launcher: () => Promise<Launcher | undefined>;
    /** Where bubblewrap is, when it is not in a system folder. */
    readonly program?: string | undefined;
  }) {
    this.#launcher = options.launcher;
    this.#program = options.program;
  }

  /** A boundary of the launcher's. Undefined where there is none: then each command has a network of its own. */
  async of(session: string): Promise<number | undefined> {
    for (;;) {
      const known = this.#made.get(session);
      const making = known ?? this.#make();
      if (known === undefined) this.#made.set(session, making);
      const network = await making;
      if (network === undefined || network.launcher.alive) return network?.boundary;
      if (this.#made.get(session) === making) this.#made.delete(session);
    }
  }

  forget(session: string): void {
    const made = this.#made.get(session);
    this.#made.delete(session);
    void made?.then((network) => network?.launcher.dissolve(network.boundary));
  }

  async #make(): Promise<Network | undefined> {
    const [program, launcher] = await Promise.all([findBwrap(this.#program), this.#launcher()]);
    if (typeof program !== "string" || launcher === undefined) return undefined;
    const boundary = await launcher.enclose({
      argv: [
        program,
        "--unshare-user",
        "--unshare-net",
        "--ro-bind",
        "/",
        "/",
        "--info-fd",
        "3",
        "--",
        ...WAIT,
      ],
      namespaces: ["net"],
      allIds: false,
      capabilities: process.getuid?.() === 0 ? SET_FILE_CAPABILITIES : 0n,
    });
    return typeof boundary === "number" ? { launcher, boundary } : undefined;
  }
}
