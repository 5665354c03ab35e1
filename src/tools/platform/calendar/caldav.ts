import {
  createAccount,
  createCalendarObject,
  type DAVCalendarObject,
  deleteCalendarObject,
  fetchCalendarObjects,
  fetchCalendars,
  propfind,
  updateCalendarObject,
} from "tsdav";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import {
  type CalendarStore,
  eventsOf,
  type IcalComponent,
  newCalendar,
  overtaken,
  parseCalendars,
  TRIES,
} from "./store.js";

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 30 * 1024 * 1024;

interface Login {
  readonly username: string;
  readonly password: string;
}

interface Place {
  readonly url: string;
  readonly login: Login | undefined;
  /** The operator wrote the address. */
  readonly configured: boolean;
  readonly ctx: CallContext;
}

/** A calendar on a CalDAV server (RFC 4791): its own address, or that of a server where the account has just one. */
export async function openCaldav(place: Place): Promise<CalendarStore> {
  if (place.login !== undefined) place.ctx.secrets.add("calendar password", place.login.password);
  const request = { fetch: guarded(place) };
  const calendar = { url: await collectionAt(place, request) };

  const objectsWith = async (id: string): Promise<DAVCalendarObject | undefined> => {
    const uid = {
      _attributes: { name: "UID" },
      "text-match": { _attributes: { collation: "i;octet" }, _text: id },
    };
    const event = { _attributes: { name: "VEVENT" }, "prop-filter": uid };
    const filters = [{ "comp-filter": { _attributes: { name: "VCALENDAR" }, "comp-filter": event } }];
    const found = await asked(
      () => fetchCalendarObjects({ calendar, filters, urlFilter: () => true, ...request }),
      place,
    );
    // Servers match parts of texts, too.
    return found.find((object) => calendarsIn(object, place).some((one) => eventsOf(one, id).length > 0));
  };

  return {
    name: calendar.url,
    async load(between) {
      const timeRange = between === undefined ? {} : { timeRange: stretch(between) };
      const found = await asked(
        () => fetchCalendarObjects({ calendar, urlFilter: () => true, ...timeRange, ...request }),
        place,
      );
      return found.flatMap((object) => calendarsIn(object, place));
    },
    async add({ id, edit }) {
      const fresh = newCalendar();
      edit(fresh);
      const filename = `${encodeURIComponent(id)}.ics`;
      const iCalString = `${fresh.toString()}\r\n`;
      accepted(
        await asked(() => createCalendarObject({ calendar, iCalString, filename, ...request }), place),
        place,
      );
    },
    async change({ id, edit }) {
      for (let attempt = 0; attempt < TRIES; attempt++) {
        const object = await objectsWith(id);
        const [held] = object === undefined ? [] : calendarsIn(object, place);
        if (object === undefined || held === undefined) return false;
        edit(held);
        const calendarObject = { ...object, data: `${held.toString()}\r\n` };
        const isEmpty = held.getAllSubcomponents("vevent").length === 0;
        const response = await asked(
          () =>
            isEmpty
              ? deleteCalendarObject({ calendarObject, ...request })
              : updateCalendarObject({ calendarObject, ...request }),
          place,
        );
        if (response.status === 412) continue;
        accepted(response, place);
        return true;
      }
      throw overtaken(calendar.url);
    },
  };
}

/** The address itself if it is a calendar, else the one calendar of the account. */
async function collectionAt(place: Place, request: { fetch: typeof globalThis.fetch }): Promise<string> {
  const props = { "d:resourcetype": {}, "d:displayname": {} };
  const [here] = await asked(() => propfind({ url: place.url, props, depth: "0", ...request }), place);
  const kinds: unknown = here?.props?.resourcetype;
  if (typeof kinds === "object" && kinds !== null && "calendar" in kinds) return place.url;
  // An address that leads nowhere is a mistake, not a wish for whichever calendar there is.
  if ((here?.status === 404 || here?.status === 410) && new URL(place.url).pathname !== "/")
    throw refusal(here.status, place.url);
  const account = await asked(
    () => createAccount({ account: { serverUrl: place.url, accountType: "caldav" }, ...request }),
    place,
  );
  const calendars = (await asked(() => fetchCalendars({ account, ...request }), place)).filter(
    ({ components }) => components === undefined || components.length === 0 || components.includes("VEVENT"),
  );
  const [first, ...others] = calendars;
  if (first !== undefined && others.length === 0) return first.url;
  const list = calendars.map(({ url, displayName }) => `${url} (${String(displayName ?? "")})`).join(", ");
  throw new ToolError(
    first === undefined
      ? `There is no calendar at ${place.url}.`
      : `There are several calendars at ${place.url}.`,
    {
      code: "invalid_arguments",
      hint: first === undefined ? "Check the address and the login." : `Name one of them: ${list}.`,
      from: place.url,
    },
  );
}

function stretch({ start, end }: { readonly start: number; readonly end: number }) {
  // Whole days and floating times lie elsewhere on other clocks: a day more on both sides finds them.
  const day = 86_400_000;
  const iso = (ms: number) => new Date(Math.min(Math.max(ms, EARLIEST), LATEST)).toISOString();
  return { start: iso(start - day), end: iso(end + day) };
}

const EARLIEST = Date.UTC(1900, 0, 1);
const LATEST = Date.UTC(2199, 0, 1);

function calendarsIn(object: DAVCalendarObject, { url }: Place): readonly IcalComponent[] {
  return typeof object.data === "string" ? parseCalendars(object.data, object.url || url) : [];
}

/** The library's requests through the guarded client, to this server only: it gets the login. */
function guarded({ url: base, login, configured, ctx }: Place): typeof globalThis.fetch {
  const { origin } = new URL(base);
  return async (input, init = {}) => {
    const url = new URL(typeof input === "string" || input instanceof URL ? input : input.url);
    if (url.origin !== origin) {
      throw new ToolError(`The calendar server sends us on to ${url.origin}.`, {
        hint: "If that is right, configure the calendar with that address.",
      });
    }
    const headers = Object.fromEntries(new Headers(init.headers).entries());
    if (login !== undefined) {
      const token = Buffer.from(`${login.username}:${login.password}`).toString("base64");
      headers.authorization = `Basic ${token}`;
    }
    const response = await ctx.fetch({
      url: url.href,
      method: init.method ?? "GET",
      headers,
      body: typeof init.body === "string" ? init.body : undefined,
      configured,
      followRedirects: init.redirect !== "manual",
      timeoutMs: REQUEST_TIMEOUT_MS,
      maxBytes: MAX_ANSWER_BYTES,
      hints: { tooLarge: "Ask for a shorter stretch of time." },
    });
    const bytes = await response.bytes();
    if (response.status === 401 || response.status >= 500) throw refusal(response.status, base);
    const { status, statusText } = response;
    const answer = new Response(bytes.length === 0 ? null : new Uint8Array(bytes), {
      status,
      statusText,
      headers: response.headers,
    });
    return Object.defineProperty(answer, "url", { value: response.url });
  };
}

function refusal(status: number, url: string): ToolError {
  return new ToolError(`The calendar server at ${new URL(url).host} answered ${status}.`, {
    hint:
      status === 401 || status === 403
        ? "It wants another login: configure the calendar (calendars.NAME: url, username, password_env)."
        : status === 404
          ? "Check the address of the calendar."
          : "Try again later.",
    details: { http_status: status },
  });
}

function accepted(response: Response, { url }: Place): void {
  if (!response.ok) throw refusal(response.status, url);
}

/** The library throws plain errors with the server's answer in them; ours go through as they are. */
async function asked<Answer>(ask: () => Promise<Answer>, { url, ctx }: Place): Promise<Answer> {
  try {
    return await ask();
  } catch (error) {
    if (ToolError.isInstance(error) || ctx.signal.aborted) throw error;
    const [, status] = /failed: (\d{3})/.exec(String(error)) ?? [];
    if (status !== undefined) throw refusal(Number(status), url);
    throw new ToolError(
      `${new URL(url).host} does not answer like a calendar server: ${String(error).slice(0, 200)}`,
      { hint: "Check the address: that of the calendar itself works best.", from: url, cause: error },
    );
  }
}
