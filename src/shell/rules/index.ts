import type { RuleSet } from "../types.js";
import { RULES as ACCOUNTS } from "./accounts.js";
import { RULES as CLOUD } from "./cloud.js";
import { RULES as CONTAINERS } from "./containers.js";
import { RULES as CREDENTIALS } from "./credentials.js";
import { RULES as DATABASES } from "./databases.js";
import { RULES as DISKS } from "./disks.js";
import { RULES as FILES } from "./files.js";
import { RULES as GIT } from "./git.js";
import { RULES as HISTORY } from "./history.js";
import { RULES as INTERPRETERS } from "./interpreters.js";
import { RULES as KUBERNETES } from "./kubernetes.js";
import { RULES as MANY_HOSTS } from "./many-hosts.js";
import { RULES as OWN_PROCESS } from "./own-process.js";
import { RULES as PACKAGES } from "./packages.js";
import { RULES as PERMISSIONS } from "./permissions.js";
import { RULES as PERSISTENCE } from "./persistence.js";
import { RULES as PROCESSES } from "./processes.js";
import { RULES as RARE } from "./rare.js";
import { RULES as REMOTE_CODE } from "./remote-code.js";
import { programsOf, type Subject } from "./row.js";
import { RULES as SERVICES } from "./services.js";
import { RULES as SYSTEM } from "./system.js";
import { RULES as TOOLCHAINS } from "./toolchains.js";
import { unknownTools } from "./unknown-tools.js";
import { RULES as VIRTUAL_MACHINES } from "./virtual-machines.js";
import { RULES as WINDOWS } from "./windows.js";

const FAMILIES: readonly (RuleSet | Subject)[] = [
  FILES,
  DISKS,
  SYSTEM,
  SERVICES,
  PROCESSES,
  PERMISSIONS,
  ACCOUNTS,
  PERSISTENCE,
  HISTORY,
  GIT,
  CONTAINERS,
  KUBERNETES,
  MANY_HOSTS,
  VIRTUAL_MACHINES,
  CLOUD,
  DATABASES,
  WINDOWS,
  REMOTE_CODE,
  PACKAGES,
  OWN_PROCESS,
  INTERPRETERS,
  CREDENTIALS,
  RARE,
  TOOLCHAINS,
];

/** The rules that are rows, by subject. */
export const SUBJECTS: readonly Subject[] = FAMILIES.filter((each) => "tools" in each);

const KNOWN = FAMILIES.flatMap((each) =>
  "tools" in each ? each.tools.flatMap(programsOf) : Object.keys(each.programs),
);

/** Every family of rules; the last one is asked about programs that none of the others names. */
export const RULE_SETS: readonly (RuleSet | Subject)[] = [...FAMILIES, unknownTools(new Set(KNOWN))];
