import { isRecord } from "../base/record.js";
import type { ConfigProblem, LoadedConfig } from "../config/types.js";
import type { PluginEnvironments } from "../env/environments.js";
import { findBrowser } from "../env/find-browser.js";
import { findProgram } from "../env/find-program.js";
import type { Status } from "../registry/availability.js";
import type { Needs } from "../tool/tool.js";
import { findSpeechModel, SPEECH_COMMAND } from "../weights/speech-models.js";
import { installedVersion, SETUP_COMMAND } from "./packages/find.js";
import { optionalPackage } from "./packages/wanted.js";

/** What a configuration says with words that mean nothing here. Loads the rules about commands only when there are words. */
export async function unknownWordsIn(config: LoadedConfig): Promise<readonly ConfigProblem[]> {
  if (config.values.command_allowlist.length === 0) return [];
  const { unknownWords } = await import("../policy/grants/unknown-words.js");
  return unknownWords(config, (name) => findProgram(name, config.env) !== undefined);
}

/** Answers `needs`: programs on PATH, variables set, packages installed, an environment that can be used. */
export function checkNeeds(
  needs: Needs,
  config: LoadedConfig,
  plugins?: PluginEnvironments,
): Status | Promise<Status> {
  const here = checkHere(needs, config);
  return here.ok && needs.environment === true ? checkEnvironment(config, plugins) : here;
}

async function checkEnvironment(
  config: LoadedConfig,
  plugins: PluginEnvironments | undefined,
): Promise<Status> {
  const { environmentStatus } = await import("../env/environments.js");
  const name = config.values.terminal.env;
  const { ready, reason, fix } = await environmentStatus(name, config, plugins);
  return ready ? { ok: true } : no(`the environment ${name} cannot be used: ${reason ?? ""}`, fix ?? "");
}

function checkHere(needs: Needs, config: LoadedConfig): Status {
  const { env, paths, values } = config;
  const missing = (needs.programs ?? []).filter((program) => findProgram(program, env) === undefined);
  if (missing.length > 0)
    return no(`not found on PATH: ${missing.join(", ")}`, needs.fix ?? `install ${missing.join(", ")}`);
  const absent = (needs.packages ?? []).filter((name) => installedVersion(name, paths.home) === undefined);
  if (absent.length > 0) {
    const fix = absent.every(optionalPackage) ? SETUP_COMMAND : `npm install ${absent.join(" ")}`;
    return no(`not installed: ${absent.join(", ")}`, needs.fix ?? fix);
  }
  if (needs.browser === true && values.browser.cdp_url === "") {
    const { executable } = values.browser;
    if (findBrowser({ executable, env, home: paths.home }) === undefined)
      return no(
        executable === ""
          ? "no Chromium, Chrome or Edge was found"
          : `browser.executable names no program: ${executable}`,
        needs.fix ?? "hermes setup browser",
      );
  }
  const { anyEnv } = needs;
  if (anyEnv !== undefined && !anyEnv.some((name) => env[name])) {
    return no(noneSet(anyEnv), needs.fix ?? `set ${anyEnv.join(" or ")}`);
  }
  const { anySetting } = needs;
  if (anySetting !== undefined && !anySetting.some((path) => isSet(path, config.values))) {
    const [first] = anySetting;
    return no(noneSet(anySetting), needs.fix ?? `hermes config set ${first} …`);
  }
  const unfetched = (needs.models ?? []).filter((name) => findSpeechModel(name, paths) === undefined);
  if (unfetched.length > 0) return no(`not fetched: ${unfetched.join(", ")}`, needs.fix ?? SPEECH_COMMAND);
  const { anyOf = [] } = needs;
  const ways = anyOf.map((way) => checkHere(way, config));
  if (ways.length > 0 && !ways.some(({ ok }) => ok))
    return no(ways.map(({ reason }) => reason).join("; "), needs.fix ?? ways[0]?.fix ?? "");
  return { ok: true };
}

function isSet(path: string, values: unknown): boolean {
  const value = path
    .split(".")
    .reduce<unknown>((section, name) => (isRecord(section) ? section[name] : undefined), values);
  return isRecord(value) ? Object.keys(value).length > 0 : value !== undefined && value !== "";
}

function no(reason: string, fix: string): Status {
  return { ok: false, reason, fix };
}

function noneSet(names: readonly string[]): string {
  return names.length === 1 ? `${names[0]} is not set` : `none of ${names.join(", ")} is set`;
}
