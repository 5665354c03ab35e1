import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { resolve } from "node:path";
import type { HermesError } from "../../tool/errors.js";
import { commandError } from "../errors.js";
import { readStdin } from "../input.js";
import { type ImportedServer, serversFromJson } from "./json.js";
import type { ServerSection } from "./servers.js";

type Options = Readonly<Record<string, unknown>>;

/** The servers a command line describes: one by its options and words, or those of a JSON snippet. */
export async function draftsFrom(
  [name, ...command]: readonly string[],
  options: Options,
): Promise<readonly ImportedServer[]> {
  const { fromJson } = options;
  if (typeof fromJson === "string") {
    if (command.length > 0) throw refused("--from-json takes no command");
    const text = fromJson === "-" ? (await readStdin()).toString("utf8") : readFileSync(fromJson, "utf8");
    return serversFromJson(text, name);
  }
  if (name === undefined) throw refused("the server needs a name");
  // `mcp add ADDRESS` and `mcp add NAME ADDRESS` mean what --url means.
  if (isAddress(name) && command.length === 0 && options.url === undefined) {
    return [{ name: nameFrom(name), section: sectionFrom([], { ...options, url: name }), notes: [] }];
  }
  const [word = ""] = command;
  if (isAddress(word) && command.length === 1 && options.url === undefined) {
    return [{ name, section: sectionFrom([], { ...options, url: word }), notes: [] }];
  }
  return [{ name, section: sectionFrom(command.map(whole), options), notes: [] }];
}

function isAddress(word: string): boolean {
  return /^https?:\/\/./i.test(word) && URL.canParse(word);
}

/** `https://mcp.linear.app/mcp` → `linear`; numbers name nothing. */
function nameFrom(address: string): string {
  const { hostname } = new URL(address);
  if (isIP(hostname.replace(/^\[|\]$/g, "")) !== 0) return "server";
  const labels = hostname.split(".").filter((label) => !/^(?:www|mcp|api)$/.test(label));
  return (labels.at(-2) ?? labels[0] ?? "server").replace(/[^A-Za-z0-9_-]/g, "-");
}

/** The program is started from other folders later: `.` and `./data` mean those of this one. */
function whole(word: string): string {
  return /^\.{1,2}(?:$|[\\/])/.test(word) ? resolve(word) : word;
}

function sectionFrom([command, ...args]: readonly string[], options: Options): ServerSection {
  const { url } = options;
  if ((typeof url === "string") === (command !== undefined))
    throw refused("say either --url ADDRESS, or -- COMMAND ARGUMENTS …");
  const env = pairs(options.variable, "=", "--env NAME=VALUE");
  const headers = pairs(options.header, ":", "--header 'NAME: VALUE'");
  const tools = {
    ...(list(options.include).length > 0 && { include: list(options.include) }),
    ...(list(options.exclude).length > 0 && { exclude: list(options.exclude) }),
  };
  const text = (name: string, key: string) =>
    typeof options[name] === "string" ? { [key]: options[name] } : {};
  return {
    ...(command === undefined ? { url } : { command }),
    ...(args.length > 0 && { args }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...text("cwd", "cwd"),
    ...text("transport", "transport"),
    ...text("auth", "auth"),
    ...text("clientId", "oauth_client_id"),
    ...text("clientSecret", "oauth_client_secret"),
    ...(list(options.scopes).length > 0 && { oauth_scopes: list(options.scopes) }),
    ...(Object.keys(tools).length > 0 && { tools }),
  };
}

function pairs(given: unknown, sign: string, form: string): Readonly<Record<string, string>> {
  const texts = Array.isArray(given) ? given.map(String) : [];
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf(sign);
      if (at < 1) throw refused(`${JSON.stringify(text)} is not of the form ${form}`);
      const value = text.slice(at + 1);
      return [text.slice(0, at).trim(), sign === ":" ? value.trim() : value];
    }),
  );
}

/** Options that may be repeated, and hold several names with commas between. */
function list(given: unknown): readonly string[] {
  const texts = Array.isArray(given) ? given : given === undefined ? [] : [given];
  return texts.flatMap((text) => String(text).split(",")).filter((item) => item !== "");
}

function refused(message: string): HermesError {
  return commandError("bad_request", message, 'Run "hermes mcp add --help".');
}
