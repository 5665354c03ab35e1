import { EXEC_MARK } from "../local/marks.js";
import { collect } from "./run-script.js";
import { WAITS_FOR_INPUT } from "./scripts.gen.js";
import type { Transport } from "./transport.js";

const LIMIT_MS = 10_000;

const READS_TERMINAL = /^(?:n_tty_read|wait_woken)$/;
const MAY_READ =
  /^(?:pipe_read|anon_pipe_read|pipe_wait|do_poll|do_sys_poll|poll_schedule_timeout|do_select|ep_poll)/;

/** Whether a program of this tree waits for input; undefined where the other side does not let it be seen. */
export async function waitsThere(place: {
  readonly transport: Transport;
  readonly mark: string;
  readonly pid: number | undefined;
  readonly pty: boolean;
}): Promise<boolean | undefined> {
  const end = await collect({
    transport: place.transport,
    argv: ["sh", "-c", WAITS_FOR_INPUT, "sh", `${EXEC_MARK}=${place.mark}`, String(place.pid ?? "")],
    limitMs: LIMIT_MS,
  }).catch(() => ({ lost: "" }));
  if ("lost" in end) return undefined;
  const lines = end.stdout.toString("latin1").split("\n");
  const rows = lines.filter((line) => line.startsWith("process|")).map((line) => line.split("|"));
  const own = /^input\|(.+)$/.exec(lines[0] ?? "")?.[1];
  if (rows.length === 0 || own === undefined) return undefined;
  const input = place.pty ? isTerminal : (target: string) => target === own;
  const answers = rows.map((row) => rowWaits(row, { pty: place.pty, input }));
  if (answers.includes(true)) return true;
  return answers.includes(undefined) ? undefined : false;
}

function rowWaits(
  row: readonly string[],
  place: { readonly pty: boolean; input(target: string): boolean },
): boolean | undefined {
  const [, state, group, foreground, how, where = ""] = row;
  if (state !== "S" || (place.pty && group !== foreground)) return false;
  const places = where.trim().split(" ");
  if (how === "call") return places.some(place.input);
  const [sleepsIn = "0", input = ""] = places;
  if (sleepsIn === "0") return undefined;
  if (place.pty && READS_TERMINAL.test(sleepsIn)) return place.input(input);
  return MAY_READ.test(sleepsIn) && place.input(input) ? undefined : false;
}

function isTerminal(target: string): boolean {
  return target.startsWith("/dev/pts/") || target === "/dev/tty" || target === "/dev/console";
}
