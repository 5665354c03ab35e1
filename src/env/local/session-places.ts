import { tmpdir } from "node:os";
import { isAtOrBelow } from "../../base/path.js";
import type { ProgramRequest } from "../environment.js";
import { configuredPaths, homesOf } from "../sandbox/plan.js";
import { type PrivateFolder, PrivateTmp } from "../sandbox/private-tmp.js";
import { realPath } from "../sandbox/real-path.js";
import type { SandboxOptions } from "../sandbox/types.js";
import type { Launcher } from "./launcher/launcher.js";
import { SessionNetworks } from "./session-network.js";

/** What a program in the strict sandbox shares with the others of its session. */
export interface SharedPlaces {
  readonly tmp: readonly PrivateFolder[];
  /** Of the launcher, to be entered; undefined when it has the machine's network, or one for itself. */
  readonly network: number | undefined;
  /** Folders of other sessions, which it must not see. */
  readonly hidden: readonly string[];
}

type Whose = Pick<ProgramRequest, "session" | "workspace" | "sandbox">;

/** The temporary folders and the network that each session in the strict sandbox has for itself. */
export class SessionPlaces {
  readonly #tmp: PrivateTmp;
  readonly #networks: SessionNetworks;
  readonly #options: SandboxOptions & { readonly home: () => string };

  constructor(
    options: SandboxOptions & {
      readonly home: () => string;
      readonly folder: string | undefined;
      readonly launcher: () => Promise<Launcher | undefined>;
    },
  ) {
    this.#options = options;
    this.#tmp = new PrivateTmp(realPath(options.folder ?? tmpdir()) ?? tmpdir());
    this.#networks = new SessionNetworks(options);
  }

  async for(request: ProgramRequest): Promise<SharedPlaces> {
    const { session, confine, sandbox } = request;
    if (session === undefined || confine !== undefined) {
      return { tmp: [], network: undefined, hidden: this.#tmp.others() };
    }
    const open = sandbox?.network ?? this.#options.network ?? false;
    return {
      tmp: this.#tmp.of(session.id),
      network: open ? undefined : await this.#networks.of(session.id),
      hidden: this.#tmp.others(),
    };
  }

  /** Where a name that a session's programs use lies on this machine. */
  at(path: string, whose: Whose): string {
    const { session } = whose;
    if (session === undefined || !/^\/(?:var\/)?tmp(?:\/|$)/.test(path)) return path;
    if (this.#opened(whose).some((open) => isAtOrBelow(path, open))) return path;
    const folder = this.#tmp.of(session.id).find(({ shown }) => isAtOrBelow(path, shown));
    return folder === undefined ? path : folder.real + path.slice(folder.shown.length);
  }

  named(text: string, session: string): string {
    return this.#tmp.known(session).reduce((said, { shown, real }) => said.replaceAll(real, shown), text);
  }

  forget(session: string): void {
    this.#networks.forget(session);
    this.#tmp.forget(session);
  }

  close(): void {
    this.#tmp.close();
  }

  /** What is mounted in its place, so that it is the same inside and outside. */
  #opened({ session, workspace, sandbox }: Whose): readonly string[] {
    const { home, writable = [], visible = [], workspace: usual } = this.#options;
    const { read = [], write = [] } = sandbox ?? {};
    const named = [workspace ?? usual, ...visible, ...(session?.visible ?? []), ...read, ...write];
    return [
      ...named.flatMap((path) => (path === undefined ? [] : (realPath(path) ?? []))),
      ...configuredPaths(writable, homesOf(home())),
    ];
  }
}
