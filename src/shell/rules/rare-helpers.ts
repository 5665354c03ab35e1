import type { Rule } from "../types.js";
import { danger, type VerbRule, verbRule } from "./verb-table.js";

/** How the programs few people have are judged: by one word that deletes, stops or changes something. */

export const DELETES = "deletes data or a thing others rely on";
export const STOPS = "stops a service or takes it out of use";
export const CHANGES = "changes the machine itself";

export const tool = (verbs: readonly VerbRule[], taking: readonly string[] = []): Rule =>
  verbRule({ family: "rare", taking, dry: ["dry-run", "n", "version"], verbs });
export const deletes = (path: string, taking: readonly string[] = []): Rule =>
  tool([{ path, reason: DELETES }], taking);

/** Danger for any use but a question for help. */
export const always =
  (reason: string): Rule =>
  ({ args, name }) =>
    args.some(({ text }) => /^(?:--?help|--?version|-h|-V|-\?)$/.test(text))
      ? undefined
      : danger("rare.use", reason, name);

export const withOption =
  (option: RegExp, reason: string): Rule =>
  ({ args }) => {
    const given = args.find(({ text }) => option.test(text));
    return given === undefined || args.some(({ text }) => /^--?(?:help|dry-run|pretend)$/.test(text))
      ? undefined
      : danger("rare.option", reason, given);
  };
