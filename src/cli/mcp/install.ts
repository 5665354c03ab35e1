import { existsSync } from "node:fs";
import { mkdir, readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, sep } from "node:path";
import { replaceFile } from "../../base/atomic-write.js";
import { canonicalJson } from "../../base/canonical-json.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { assertPerson, confirm } from "../person.js";
import { entryIn, withEntry } from "./client-settings.js";

interface Client {
  readonly title: string;
  /** The file of the person's own settings, by platform. */
  readonly file: (places: Places) => string;
  /** The file of one project; undefined where there is none. */
  readonly project?: string;
  /** The settings that hold servers. */
  readonly section: string;
  /** What it wants to know besides command and arguments. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

interface Places {
  readonly home: string;
  readonly settings: string;
  readonly platform: NodeJS.Platform;
}

export const CLIENTS: Readonly<Record<string, Client>> = {
  claude: {
    title: "Claude",
    // There is no Claude Desktop for Linux; Claude Code keeps its servers here.
    file: ({ home, settings, platform }) =>
      platform === "linux"
        ? join(home, ".claude.json")
        : join(settings, "Claude", "claude_desktop_config.json"),
    project: ".mcp.json",
    section: "mcpServers",
  },
  cursor: {
    title: "Cursor",
    file: ({ home }) => join(home, ".cursor", "mcp.json"),
    project: ".cursor/mcp.json",
    section: "mcpServers",
  },
  vscode: {
    title: "VS Code",
    file: ({ settings }) => join(settings, "Code", "User", "mcp.json"),
    project: ".vscode/mcp.json",
    section: "servers",
    extra: { type: "stdio" },
  },
  zed: {
    title: "Zed",
    file: ({ home, settings, platform }) =>
      platform === "win32"
        ? join(settings, "Zed", "settings.json")
        : join(home, ".config", "zed", "settings.json"),
    project: ".zed/settings.json",
    section: "context_servers",
    extra: { source: "custom" },
  },
};

/** Writes this program into the settings of an MCP client, and leaves everything else in them alone. */
export async function install(context: CommandContext): Promise<void> {
  assertPerson("Other programs are set up by a person", "Ask the person to run this command.");
  const { out, flags, options } = context;
  const [chosen = ""] = context.args;
  const client = Object.hasOwn(CLIENTS, chosen) ? CLIENTS[chosen] : undefined;
  if (client === undefined) {
    const known = Object.keys(CLIENTS).join(", ");
    throw commandError("bad_request", `${chosen} is no client that is known here`, `Known: ${known}.`);
  }
  const name = String(options.name);
  const file =
    options.project === true && client.project !== undefined
      ? join(process.cwd(), client.project)
      : client.file(placesOf(process.platform));
  const entry = { ...client.extra, ...serverEntry(context.home) };
  const before = existsSync(file) ? await readFile(file, "utf8") : "";
  const place = { section: client.section, name };
  const standing = entryIn(before, place);
  const isSame = canonicalJson(standing) === canonicalJson(entry);
  const after = isSame ? before : withEntry(before, { ...place, entry });
  if (after === undefined) {
    throw commandError(
      "failed",
      `${file} is not JSON, so nothing was written`,
      `Mend it, or add by hand: ${JSON.stringify({ [client.section]: { [name]: entry } })}`,
    );
  }
  if (!isSame && flags.dryRun !== true) {
    if (standing !== undefined) {
      const question = `${file} has a server ${name} already: ${JSON.stringify(standing)}. Replace it?`;
      await confirm({ question, yes: flags.yes === true, refused: "nothing was changed" });
    }
    await mkdir(dirname(file), { recursive: true });
    await replaceFile({ path: file, data: after });
  }
  if (out.json) return out.value({ client: chosen, file, name, entry, changed: !isSame });
  out.line(`${out.mark("ok")} ${file}${isSame ? " (as before)" : flags.dryRun === true ? " would get" : ""}`);
  out.line(JSON.stringify({ [client.section]: { [name]: entry } }, null, 2));
  if (!isSame && flags.dryRun !== true) out.note(`Start ${client.title} again to see the tools.`);
}

function placesOf(platform: NodeJS.Platform): Places {
  const home = homedir();
  const settings =
    platform === "darwin"
      ? join(home, "Library", "Application Support")
      : platform === "win32"
        ? (process.env.APPDATA ?? join(home, "AppData", "Roaming"))
        : (process.env.XDG_CONFIG_HOME ?? join(home, ".config"));
  return { home, settings, platform };
}

/** A client starts it without a shell and with a PATH of its own, so a clone is named by its whole path. */
function serverEntry(home: string): Readonly<Record<string, unknown>> {
  const script = process.argv[1] ?? "";
  const published = __dirname.includes(`${sep}node_modules${sep}`);
  const program = published
    ? { command: "npx", args: ["-y", "hermes-tools", "mcp", "serve"] }
    : { command: process.execPath, args: [script, "mcp", "serve"] };
  const ownHome = home === join(homedir(), ".hermes") ? {} : { env: { HERMES_HOME: home } };
  return { ...program, ...ownHome };
}
