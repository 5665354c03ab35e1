import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { Problem } from "./problem.js";

const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS"]);

/** The owner may do everything; a caller runs tools and reads, but approves nothing. */
type Role = "owner" | "caller";

/** Knows who holds which token: a program by its header, the page by a cookie made from the owner's. */
export class Authenticator {
  readonly #callToken: string | undefined;
  readonly #comparisonKey = randomBytes(32);
  readonly #tokenDigest: Buffer;
  /** Ports share one cookie jar, so two servers on a machine need two names. */
  readonly cookieName: string;
  /** Never the token: whoever reads the cookie jar cannot call the API from elsewhere with it. */
  readonly cookieValue: string;
  /**
   * What the page adds to an answer. Browsers send a cookie to every port of a host, also to a server that a tool has
   * started there; this they keep for the page's own origin, and never send by themselves.
   */
  readonly pageKey: string;

  constructor(options: {
    readonly token: string;
    readonly callToken?: string | undefined;
    readonly port: number;
  }) {
    this.#callToken = options.callToken;
    this.#tokenDigest = this.#digest(options.token);
    this.cookieName = `hermes_${options.port}`;
    this.cookieValue = createHmac("sha256", options.token)
      .update(`hermes page cookie, port ${options.port}`)
      .digest("base64url");
    this.pageKey = createHmac("sha256", options.token)
      .update(`hermes page answers, port ${options.port}`)
      .digest("base64url");
  }

  isToken(candidate: string): boolean {
    return timingSafeEqual(this.#digest(candidate), this.#tokenDigest);
  }

  /** Undefined when the request may pass. */
  refuse(request: {
    readonly method: string;
    readonly headers: IncomingHttpHeaders;
    /** True when only the owner may do it. */
    readonly approves?: boolean;
  }): Problem | undefined {
    const { method, headers } = request;
    if (headers.authorization !== undefined) {
      const [, bearer] = /^bearer +(\S+) *$/i.exec(headers.authorization) ?? [];
      const role = bearer === undefined ? undefined : this.#roleOf(bearer);
      if (role === undefined) return unauthenticated("wrong");
      return role === "caller" && request.approves === true ? MAY_NOT_APPROVE : undefined;
    }
    if (!this.#hasCookie(headers)) return unauthenticated("missing");
    if (!isOwnPage(headers)) return unauthenticated("missing");
    if (request.approves === true && !this.#equal(String(headers[PAGE_HEADER] ?? ""), this.pageKey))
      return NOT_THE_PAGE;
    if (SAFE_METHODS.has(method) || headers.origin !== undefined) return undefined;
    return {
      status: 403,
      code: "forbidden",
      message:
        "A request that changes something needs an Origin header when it comes with the page's cookie.",
      hint: "Programs send the token in the Authorization header instead.",
    };
  }

  /** Whether a request like this one could also approve and change. */
  mayApprove(headers: IncomingHttpHeaders): boolean {
    return this.refuse({ method: "GET", headers, approves: true }) === undefined;
  }

  /** Whose request one is that may pass: everything but the token for calls is the owner's. */
  principalOf(headers: IncomingHttpHeaders): Role {
    const [, bearer] = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "") ?? [];
    return bearer === undefined || this.isToken(bearer) ? "owner" : "caller";
  }

  /** Whose conversations a request may see: the owner of this machine is nobody in particular, a token for calls is itself. */
  ownerOf(headers: IncomingHttpHeaders): string {
    if (this.principalOf(headers) === "owner") return "";
    const digest = createHash("sha256").update(`hermes calls ${this.#callToken}`).digest("base64url");
    return `token:${digest.slice(0, 16)}`;
  }

  setCookie(): string {
    return `${this.cookieName}=${this.cookieValue}; Path=/; HttpOnly; SameSite=Strict`;
  }

  #roleOf(bearer: string): Role | undefined {
    if (this.isToken(bearer)) return "owner";
    return this.#callToken !== undefined && this.#equal(bearer, this.#callToken) ? "caller" : undefined;
  }

  #hasCookie(headers: IncomingHttpHeaders): boolean {
    return (headers.cookie ?? "").split(";").some((pair) => {
      const at = pair.indexOf("=");
      return (
        pair.slice(0, at).trim() === this.cookieName &&
        this.#equal(pair.slice(at + 1).trim(), this.cookieValue)
      );
    });
  }

  /** Digests have one length, so neither content nor length of the secret shows in the time it takes. */
  #equal(left: string, right: string): boolean {
    return timingSafeEqual(this.#digest(left), this.#digest(right));
  }

  #digest(text: string): Buffer {
    return createHmac("sha256", this.#comparisonKey).update(text).digest();
  }
}

/** Other local servers count as the same site for cookies; browsers say when a request is theirs. */
function isOwnPage(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return site === undefined || site === "same-origin" || site === "none";
}

const PAGE_HEADER = "x-hermes-page";

const NOT_THE_PAGE: Problem = {
  status: 403,
  code: "forbidden",
  message: "The cookie alone opens the page, but answers and changes nothing.",
  hint: "Open the address with the token once more, as `hermes serve` printed it, in this browser.",
};

const MAY_NOT_APPROVE: Problem = {
  status: 403,
  code: "forbidden",
  message: "The token for calls may run tools and read, but not answer approvals or change anything.",
  hint: "Use the server's own token, the page, or the command line (hermes approvals approve ID).",
};

export function unauthenticated(why: "missing" | "wrong"): Problem {
  return {
    status: 401,
    code: "unauthenticated",
    message:
      why === "missing" ? "This address needs the server's token." : "The token is not this server's token.",
    hint: "Send `Authorization: Bearer TOKEN`; the token is in the address that `hermes serve` printed.",
    headers: {
      "www-authenticate": `Bearer realm="hermes"${why === "wrong" ? ', error="invalid_token"' : ""}`,
    },
  };
}
