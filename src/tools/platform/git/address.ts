/** What a git address means: where it leads and by which protocol; anything else git could make of it is refused. */
export type GitAddress =
  | { readonly kind: "web"; readonly url: string; readonly host: string; readonly port: number }
  | {
      readonly kind: "ssh" | "git";
      readonly url: string;
      readonly host: string;
      readonly port: number;
    }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "refused"; readonly why: string };

/** `ext::sh -c …` and the like: the part in front names a program. */
const HELPER = /^[\w+.-]*::/;
const SCHEME = /^([A-Za-z][\w+.-]*):\/\//;
/** `git@host:path`; a colon behind a slash belongs to a path. */
const SHORT_SSH = /^(?:[^/:@\s]+@)?(\[[^\]]+\]|[^/:\s]+):(?!\/\/)/;

export function readAddress(text: string): GitAddress {
  if (text === "") return refused("it is empty");
  if (text.startsWith("-")) return refused("it begins with -, which git would take for an option");
  if (/[\u0000-\u001f\u007f]/.test(text)) return refused("it holds a control character");
  if (HELPER.test(text)) return refused("it names a program that git would run (helper::…)");
  const scheme = SCHEME.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    const host = SHORT_SSH.exec(text)?.[1]?.replace(/^\[|\]$/g, "");
    if (host === undefined) return { kind: "file", path: text };
    return host.startsWith("-") ? BAD_HOST : { kind: "ssh", url: text, host, port: 22 };
  }
  if (scheme === "file") return readFileAddress(text);
  if (!URL.canParse(text)) return refused("it is not a valid address");
  const { hostname, port } = new URL(text);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (host === "" || host.startsWith("-")) return BAD_HOST;
  switch (scheme) {
    case "http":
    case "https":
      return { kind: "web", url: text, host, port: Number(port || (scheme === "http" ? 80 : 443)) };
    case "ssh":
    case "git+ssh":
    case "ssh+git":
      return { kind: "ssh", url: text, host, port: Number(port || 22) };
    case "git":
      return { kind: "git", url: text, host, port: Number(port || 9418) };
    default:
      return refused(`${scheme}:// is not used here`);
  }
}

const BAD_HOST: GitAddress = { kind: "refused", why: "its host name is not valid" };

function refused(why: string): GitAddress {
  return { kind: "refused", why };
}

function readFileAddress(text: string): GitAddress {
  const path = text.slice("file://".length);
  if (!path.startsWith("/")) return refused("file:// must be followed by an absolute path");
  try {
    return { kind: "file", path: decodeURIComponent(path) };
  } catch {
    return refused("it is not a valid address");
  }
}

/** The value of GIT_ALLOW_PROTOCOL that lets exactly this address through. */
export function protocolOf(address: GitAddress): string {
  switch (address.kind) {
    case "web":
      return "http:https";
    case "refused":
      return "none";
    default:
      return address.kind;
  }
}

/** The address in the form that the rules of the network are written for, whatever the protocol. */
export function judgedUrl({ kind, url, host }: Exclude<GitAddress, { kind: "file" | "refused" }>): string {
  return kind === "web" ? withoutPassword(url) : `http://${host.includes(":") ? `[${host}]` : host}/`;
}

/** Addresses may carry a user name and password; nobody needs to see them. */
export function withoutPassword(text: string): string {
  return text.replace(/(\b[A-Za-z][\w+.-]*:\/\/)[^/@\s]*@/g, "$1");
}

/** The folder that git would choose for a clone. */
export function folderFor(url: string): string {
  const last = url
    .replace(/[/\\]+$/, "")
    .replace(/\/\.git$/, "")
    .split(/[/:\\]/)
    .at(-1);
  return (last ?? "").replace(/\.git$/, "").replace(/[?#].*$/, "") || "repository";
}
