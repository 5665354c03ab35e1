import { chmodSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client";
import { replaceFile } from "../../../base/atomic-write.js";
import { withFileLock } from "../../../config/lock.js";
import { HermesError } from "../../../tool/errors.js";
import type { SecretAccess } from "../../../tool/tool.js";
import type { OAuthSettings } from "./settings.js";

/** What is kept about one server. Only secrets have names that say so: everything named thus is masked. */
export interface StoredLogin {
  /** The address all of it belongs to: another address never sees it. */
  readonly url: string;
  readonly client?: StoredOAuthClientInformation | undefined;
  readonly tokens?: StoredOAuthTokens;
  /** Milliseconds since 1970. */
  readonly expires_at?: number | undefined;
  /** Who gave the tokens, and for which resource; refreshing asks nobody else. */
  readonly authorization_server?: string;
  readonly resource?: string | undefined;
  /** What the last login asked for. */
  readonly asked_scope?: string | undefined;
  /** What the server asked for since. */
  readonly wanted_scope?: string;
  /** What the server said when it turned a request down: where its documents are and what it wants. */
  readonly challenge?: { readonly documents?: string; readonly scope?: string };
  /** The tokens belong to this client itself, not to a person. */
  readonly machine?: boolean;
}

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** The file of one server below `mcp-tokens`. */
export class TokenStore {
  readonly file: string;
  readonly #url: string;
  readonly #server: string;
  readonly #secrets: SecretAccess;

  constructor({ server, config, host }: OAuthSettings) {
    this.file = tokenFile(host.config.paths.home, server);
    this.#url = new URL(config.url).href;
    this.#server = server;
    this.#secrets = host.secrets;
  }

  /** What is kept for the server's present address. */
  read(): StoredLogin {
    const stored = readLogin(this.file);
    if (stored === undefined || stored.url !== this.#url) return { url: this.#url };
    this.#mask(stored);
    return stored;
  }

  /** Whether the file holds the login of another address, which a mere note must not replace. */
  get isTaken(): boolean {
    const stored = readLogin(this.file);
    return stored !== undefined && stored.url !== this.#url;
  }

  /** Only while `alone`: the file is replaced as a whole. */
  async write(login: StoredLogin): Promise<void> {
    const folder = dirname(this.file);
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    chmodSync(folder, FOLDER_MODE);
    this.#mask(login);
    await replaceFile({ path: this.file, data: `${JSON.stringify(login, null, 2)}\n`, mode: FILE_MODE });
  }

  /** Changes what is kept, whatever other processes do at the same time. */
  update(change: (stored: StoredLogin) => StoredLogin): Promise<StoredLogin> {
    return this.alone(async () => {
      const next = change(this.read());
      await this.write(next);
      return next;
    });
  }

  /** No other process reads and writes tokens of this server meanwhile. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    let thrown: { readonly error: unknown } | undefined;
    const done = await withFileLock(this.file, async () => {
      try {
        return { value: await work() };
      } catch (error) {
        thrown = { error };
        return undefined;
      }
    });
    if (thrown !== undefined) throw thrown.error;
    if (done === undefined || "value" in done) return (done as { readonly value: T }).value;
    throw new HermesError(done);
  }

  #mask({ tokens, client }: StoredLogin): void {
    const add = (what: string, value: string | undefined) => {
      if (value !== undefined && value !== "") this.#secrets.add(`mcp:${this.#server}.${what}`, value);
    };
    add("access_token", tokens?.access_token);
    add("refresh_token", tokens?.refresh_token);
    add("id_token", tokens?.id_token);
    add("client_secret", client?.client_secret);
  }
}

export function tokenFile(home: string, server: string): string {
  return join(home, "mcp-tokens", `${server}.json`);
}

/** Forgets a server's tokens and registration; false when there were none. */
export function forgetTokens(home: string, server: string): boolean {
  const file = tokenFile(home, server);
  const { tokens, client } = readLogin(file) ?? {};
  rmSync(file, { force: true });
  return tokens !== undefined || client !== undefined;
}

/** What a file holds, whichever address it is for; a damaged file holds nothing. */
export function readLogin(file: string): StoredLogin | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    const isLogin = typeof value === "object" && value !== null && "url" in value;
    return isLogin && typeof value.url === "string" ? (value as StoredLogin) : undefined;
  } catch {
    return undefined;
  }
}
