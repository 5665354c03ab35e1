import { sha256 } from "../../../base/hash.js";
import { ToolError } from "../../../tool/errors.js";
import type { CallContext } from "../../../tool/tool.js";
import { refuseDevice } from "../../files/path-guard.js";
import { locate } from "../../files/paths.js";
import {
  type CalendarStore,
  eventsOf,
  type IcalComponent,
  newCalendar,
  overtaken,
  parseCalendars,
  TRIES,
} from "./store.js";

const MAX_FILE_BYTES = 20 * 1024 * 1024;

/** A calendar file. It is replaced as a whole, and only if it still is what was read. */
export async function openIcsFile(named: string, ctx: CallContext): Promise<CalendarStore> {
  const location = await locate(named, ctx);
  refuseDevice(location);
  const { files } = ctx.environment;

  const read = async (): Promise<{ calendars: readonly IcalComponent[]; sha256: string } | undefined> => {
    const stat = await files.stat(location.real);
    if (stat === undefined) return undefined;
    if (stat.type !== "file" || stat.size > MAX_FILE_BYTES) {
      throw new ToolError(
        `${location.path} ${stat.type === "file" ? `is larger than ${MAX_FILE_BYTES >> 20} MiB` : "is not a file"}.`,
        { code: "invalid_arguments", hint: "Name an iCalendar file (.ics)." },
      );
    }
    const bytes = await files.read(location.real);
    const text = new TextDecoder().decode(bytes);
    return {
      calendars: text.trim() === "" ? [] : parseCalendars(text, location.path),
      sha256: sha256(bytes),
    };
  };

  /** `pick` chooses the calendar to edit among those of the file; without one nothing happens. */
  const rewrite = async (
    pick: (calendars: readonly IcalComponent[]) => IcalComponent | undefined,
    edit: (calendar: IcalComponent) => void,
  ): Promise<boolean> => {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const found = await read();
      const calendars = [...(found?.calendars ?? [])];
      const calendar = pick(calendars);
      if (calendar === undefined) return false;
      if (!calendars.includes(calendar)) calendars.push(calendar);
      edit(calendar);
      const text = calendars.map((one) => `${one.toString()}\r\n`).join("");
      ctx.signal.throwIfAborted();
      try {
        await files.write(location.real, Buffer.from(text), { expected: { sha256: found?.sha256 } });
        return true;
      } catch (error) {
        if (!ToolError.isInstance(error) || error.details?.conflict !== true) throw error;
      }
    }
    throw overtaken(location.path);
  };

  return {
    name: location.path,
    async load() {
      const found = await read();
      if (found !== undefined) return found.calendars;
      throw new ToolError(`${location.path} does not exist.`, {
        code: "invalid_arguments",
        hint: "Check the path; create makes a new calendar file.",
      });
    },
    async add({ edit }) {
      await rewrite((calendars) => calendars[0] ?? newCalendar(), edit);
    },
    change: ({ id, edit }) =>
      rewrite((calendars) => calendars.find((one) => eventsOf(one, id).length > 0), edit),
  };
}
