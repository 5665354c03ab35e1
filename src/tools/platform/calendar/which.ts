import { isRecord } from "../../../base/record.js";
import type { Effect, EffectScope } from "../../../tool/effects.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { absolutePath } from "../../files/paths.js";
import type { CalendarStore } from "./store.js";

/** What an argument means, by its form alone: effects know no configuration. */
export type NamedCalendar =
  | { readonly kind: "url"; readonly url: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "name"; readonly name: string };

export function readCalendar(written = ""): NamedCalendar {
  const text = written.trim();
  if (/^(?:https?|caldavs?|webcals?):\/\//i.test(text)) return { kind: "url", url: webAddress(text) };
  if (/\.(?:ics|ical|icalendar)$/i.test(text) || text.includes("/")) return { kind: "file", path: text };
  return { kind: "name", name: text };
}

function webAddress(text: string): string {
  return text.replace(/^(?:caldav|webcal)(s?):/i, (_all, secure: string) => `http${secure}:`);
}

export function calendarEffects(
  written: string | undefined,
  { writes, scope }: { readonly writes: boolean; readonly scope: EffectScope },
): readonly Effect[] {
  const calendar = readCalendar(written);
  const mode = writes ? "write" : "read";
  if (calendar.kind === "file") {
    const resource = absolutePath(calendar.path, scope);
    return [
      { action: `calendar:${mode}`, resource, mode },
      // It is read before it is changed, and what is in it is told.
      { action: "file:read", resource, mode: "read" },
      ...(writes ? [{ action: "file:write", resource, mode: "write", reversible: false } as const] : []),
    ];
  }
  if (calendar.kind === "url") {
    const resource = withoutCredentials(calendar.url);
    return [
      { action: `calendar:${mode}`, resource, mode },
      { action: writes ? "network:write" : "network:fetch", resource, mode },
    ];
  }
  return [{ action: `calendar:${mode}`, resource: calendar.name || "default", mode }];
}

/** The password of an address is no part of what people are asked about, nor of what is written down. */
export function passwordIn(written: string | undefined): string | undefined {
  const calendar = readCalendar(written);
  if (calendar.kind !== "url" || !URL.canParse(calendar.url)) return undefined;
  return new URL(calendar.url).password || undefined;
}

function withoutCredentials(url: string): string {
  return url.replace(/\/\/[^/?#]*@/, "//");
}

export async function openCalendar(written: string | undefined, ctx: CallContext): Promise<CalendarStore> {
  const calendar = readCalendar(written);
  if (calendar.kind === "file") return (await import("./ics-file.js")).openIcsFile(calendar.path, ctx);
  if (calendar.kind === "url") {
    const url = URL.canParse(calendar.url) ? new URL(calendar.url) : undefined;
    if (url === undefined) throw unknownCalendar(calendar.url, ctx);
    const { openCaldav } = await import("./caldav.js");
    const { username, password } = url;
    const login =
      username === ""
        ? undefined
        : { username: decodeURIComponent(username), password: decodeURIComponent(password) };
    return openCaldav({ url: withoutCredentials(url.href), login, configured: false, ctx });
  }
  return openConfigured(calendar.name, ctx);
}

async function openConfigured(name: string, ctx: CallContext): Promise<CalendarStore> {
  const all = isRecord(ctx.settings.calendars) ? ctx.settings.calendars : {};
  const [only, ...others] = Object.keys(all);
  const meant = name === "" && others.length === 0 ? only : name;
  const entry = meant !== undefined && Object.hasOwn(all, meant) ? all[meant] : undefined;
  if (meant === undefined || !isRecord(entry)) throw unknownCalendar(name, ctx);
  if (typeof entry.path === "string") return (await import("./ics-file.js")).openIcsFile(entry.path, ctx);
  if (typeof entry.url !== "string" || !URL.canParse(webAddress(entry.url))) {
    throw new ToolError(`The calendar ${meant} of the configuration has neither url nor path.`, {
      code: "unavailable",
      hint: `hermes config set calendars.${meant}.url https://…`,
    });
  }
  const { openCaldav } = await import("./caldav.js");
  return openCaldav({
    url: withoutCredentials(webAddress(entry.url)),
    login: loginOf(meant, entry, ctx),
    configured: true,
    ctx,
  });
}

function loginOf(name: string, entry: Readonly<Record<string, unknown>>, ctx: CallContext) {
  const { username, password, password_env } = entry;
  if (typeof username !== "string") return undefined;
  if (typeof password === "string") return { username, password };
  if (typeof password_env !== "string") return { username, password: "" };
  const secret = ctx.secrets.get(password_env);
  if (secret !== undefined) return { username, password: secret };
  throw new ToolError(`The password of the calendar ${name} is not known: ${password_env} is not set.`, {
    code: "unavailable",
    hint: `${password_env}=… in the .env of the Hermes home; its name must end in _PASSWORD or _TOKEN.`,
  });
}

function unknownCalendar(name: string, ctx: CallContext): ToolError {
  const known = Object.keys(isRecord(ctx.settings.calendars) ? ctx.settings.calendars : {});
  const configured = known.length === 0 ? "none is configured" : `configured: ${known.join(", ")}`;
  return new ToolError(
    name === "" ? "Which calendar is meant?" : `There is no calendar ${JSON.stringify(name)}.`,
    {
      code: "invalid_arguments",
      hint: `Give the path of an .ics file, a CalDAV address or a name (${configured}).`,
    },
  );
}
