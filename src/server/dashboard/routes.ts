import type { Route } from "../route.js";
import { loginRoute, loginStateRoute } from "../source-login-routes.js";
import { acceptDriftRoute, reconnectRoute } from "../sources-route.js";
import { chatFollowRoute, chatRoute, chatSteerRoute, chatStopRoute } from "./chat-routes.js";
import { cronActionRoute, cronRoute, cronRunsRoute } from "./cron-routes.js";
import { doctorFixRoute, doctorRoute } from "./doctor-routes.js";
import { grantsRoute, revokeGrantRoute } from "./grant-routes.js";
import { infoRoute } from "./info-route.js";
import { logsRoute } from "./logs-route.js";
import {
  acceptProposalRoute,
  explainRoute,
  permissionsRoute,
  proposeRoute,
  simulateRoute,
} from "./permission-routes.js";
import { processStreamRoute } from "./process-stream-route.js";
import { sessionChangesRoute, sessionUndoRoute } from "./session-change-routes.js";
import { sessionExportRoute } from "./session-export-route.js";
import { sessionReplayRoute } from "./session-replay-route.js";
import { sessionDeleteRoute, sessionRoute, sessionsRoute } from "./session-routes.js";
import { settingChangeRoute, settingsRoute } from "./settings-routes.js";
import { foretellRoute, runRoute, toolRoute, toolSwitchRoute } from "./tool-routes.js";

/** What the page needs besides what programs use. */
export const dashboardRoutes: readonly Route[] = [
  infoRoute,
  toolRoute,
  toolSwitchRoute,
  foretellRoute,
  runRoute,
  reconnectRoute,
  acceptDriftRoute,
  loginRoute,
  loginStateRoute,
  processStreamRoute,
  chatRoute,
  chatFollowRoute,
  chatStopRoute,
  chatSteerRoute,
  sessionsRoute,
  sessionRoute,
  sessionExportRoute,
  sessionReplayRoute,
  sessionDeleteRoute,
  sessionChangesRoute,
  sessionUndoRoute,
  cronRoute,
  cronRunsRoute,
  cronActionRoute,
  permissionsRoute,
  explainRoute,
  simulateRoute,
  proposeRoute,
  acceptProposalRoute,
  grantsRoute,
  revokeGrantRoute,
  logsRoute,
  doctorRoute,
  doctorFixRoute,
  settingsRoute,
  settingChangeRoute,
];
