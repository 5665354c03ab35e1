import type { Rule, RuleSet } from "../types.js";
import { isSender } from "./flows.js";
import { SECRET_PRINTERS } from "./secret-printers.js";
import { findsAndShows, showsSecrets } from "./secret-reads.js";
import {
  copiesIntoContainer,
  looksUpOutput,
  pipesSecrets,
  sendsFile,
  sendsInWords,
  servesSecrets,
} from "./secret-sends.js";
import { danger } from "./verb-table.js";

const METADATA =
  /(?:^|[/@\s"'=:,[])(?:169\.254\.(?:169\.25[34]|170\.\d{1,3})|metadata\.google\.internal|metadata\.goog|100\.100\.100\.200|192\.0\.0\.192|\[?fd00:ec2::254|2852039166|0xa9fea9fe|0xa9\.0xfe\.0xa9\.0xfe|0251\.0376\.0251\.0376|\[::ffff:(?:169\.254\.169\.254|a9fe:a9fe)|instance-data(?:\.ec2\.internal)?)(?:[:/\]\s"']|$)/i;

/** The address under which clouds give their machines keys. */
const metadata: Rule = (command) => {
  if (
    !isSender(command) &&
    !/^(?:aria2c|fetch|lynx|w3m|links|invoke-webrequest|iwr|invoke-restmethod|irm)$/.test(command.program)
  )
    return undefined;
  const word = command.args.find(({ text }) => METADATA.test(text));
  return word === undefined
    ? undefined
    : danger("credentials.metadata", "reads keys of the cloud machine it runs on", word);
};

export const RULES: RuleSet = {
  family: "credentials",
  programs: SECRET_PRINTERS,
  any: [
    showsSecrets,
    findsAndShows,
    sendsFile,
    pipesSecrets,
    sendsInWords,
    looksUpOutput,
    copiesIntoContainer,
    servesSecrets,
    metadata,
  ],
};
