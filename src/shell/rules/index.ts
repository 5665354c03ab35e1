import { RULES as ABUSE } from "./abuse.js";
import { RULES as ACCOUNTS } from "./accounts.js";
import { RULES as AS_ROOT } from "./as-root.js";
import { RULES as AUTOSTART } from "./autostart.js";
import { RULES as BACKUPS } from "./backups.js";
import { RULES as CLOUD } from "./cloud.js";
import { RULES as CLOUD_EXPOSURE } from "./cloud-exposure.js";
import { RULES as CLOUD_USES } from "./cloud-uses.js";
import { RULES as CONTAINERS } from "./containers.js";
import { RULES as CREDENTIALS } from "./credentials.js";
import { RULES as DATA_PIPELINES } from "./data-pipelines.js";
import { RULES as DATABASES } from "./databases.js";
import { RULES as DESKTOP } from "./desktop.js";
import { RULES as DEVICES } from "./devices.js";
import { RULES as DISKS } from "./disks.js";
import { RULES as ENVIRONMENT } from "./environment-variables.js";
import { RULES as FILES } from "./files.js";
import { RULES as FOREIGN_CODE } from "./foreign-code.js";
import { RULES as FORGE_PACKAGES } from "./forge-packages.js";
import { RULES as GIT } from "./git.js";
import { RULES as GIVEN_CODE } from "./given-code.js";
import { RULES as HERMES } from "./hermes.js";
import { RULES as HISTORY } from "./history.js";
import { RULES as HOSTING } from "./hosting.js";
import { RULES as KUBERNETES } from "./kubernetes.js";
import { RULES as LOOSE_CODE } from "./loose-code.js";
import { RULES as MANY_HOSTS } from "./many-hosts.js";
import { RULES as MESSAGE_QUEUES } from "./message-queues.js";
import { RULES as MIGRATIONS } from "./migrations.js";
import { RULES as MISSPELT_PACKAGES } from "./misspelt-packages.js";
import { RULES as MONEY } from "./money.js";
import { RULES as NETWORK } from "./network.js";
import { RULES as PACKAGE_SERVERS } from "./package-servers.js";
import { RULES as PACKAGES } from "./packages.js";
import { RULES as PERMISSIONS } from "./permissions.js";
import { RULES as PERSONAL_FILES } from "./personal-files.js";
import { RULES as POWERSHELL } from "./powershell.js";
import { RULES as PROCESS_SECRETS } from "./process-secrets.js";
import { RULES as PROCESSES } from "./processes.js";
import { RULES as PRODUCTION } from "./production.js";
import { RULES as PROTECTED } from "./protected-words.js";
import { RULES as PUBLISHING } from "./publishing.js";
import { RULES as REMOTE_ACCESS } from "./remote-access.js";
import { RULES as REMOTE_CODE } from "./remote-code.js";
import { RULES as REMOTE_DATABASES } from "./remote-databases.js";
import { RULES as REPETITION } from "./repetition.js";
import type { Subject } from "./row.js";
import { RULES as SAFEGUARDS } from "./safeguards.js";
import { RULES as SECRET_STORES } from "./secret-stores.js";
import { RULES as SECRET_WORDS } from "./secret-words.js";
import { RULES as SENT_DATA } from "./sent-data.js";
import { RULES as SERVICES } from "./services.js";
import { RULES as SQL_CLIENTS } from "./sql-clients.js";
import { RULES as STARTERS } from "./starters.js";
import { RULES as SYSTEM_SETTINGS } from "./system-settings.js";
import { RULES as SYSTEM_USES } from "./system-uses.js";
import { RULES as UPLOADS } from "./uploads.js";
import { RULES as VERSION_CONTROL } from "./version-control.js";
import { RULES as VIRTUAL_MACHINES } from "./virtual-machines.js";
import { RULES as WEBSITES } from "./websites.js";
import { RULES as WINDOWS } from "./windows.js";

/** Every rule about a program is a row in one of these; where two speak of one command, the first is told. */
export const SUBJECTS: readonly Subject[] = [
  FILES,
  PERSONAL_FILES,
  DISKS,
  SYSTEM_SETTINGS,
  NETWORK,
  SERVICES,
  PROCESSES,
  PERMISSIONS,
  ACCOUNTS,
  AUTOSTART,
  ENVIRONMENT,
  HISTORY,
  GIT,
  VERSION_CONTROL,
  CONTAINERS,
  KUBERNETES,
  MANY_HOSTS,
  VIRTUAL_MACHINES,
  CLOUD,
  CLOUD_EXPOSURE,
  HOSTING,
  BACKUPS,
  SQL_CLIENTS,
  DATABASES,
  MESSAGE_QUEUES,
  MIGRATIONS,
  WINDOWS,
  POWERSHELL,
  REMOTE_CODE,
  FOREIGN_CODE,
  REMOTE_ACCESS,
  DESKTOP,
  PACKAGES,
  MISSPELT_PACKAGES,
  STARTERS,
  LOOSE_CODE,
  HERMES,
  CREDENTIALS,
  PROTECTED,
  SECRET_STORES,
  SECRET_WORDS,
  WEBSITES,
  DATA_PIPELINES,
  SENT_DATA,
  UPLOADS,
  PROCESS_SECRETS,
  PACKAGE_SERVERS,
  FORGE_PACKAGES,
  ABUSE,
  REPETITION,
  DEVICES,
  MONEY,
  PUBLISHING,
  SAFEGUARDS,
  PRODUCTION,
  AS_ROOT,
  GIVEN_CODE,
  REMOTE_DATABASES,
  CLOUD_USES,
  SYSTEM_USES,
];
