/** Environment variable that marks every process one exec or spawn started, however it forked or changed session. */
export const EXEC_MARK = "HERMES_EXEC_ID";
/** The same for everything that must end with this runtime. */
export const RUNTIME_MARK = "HERMES_RUNTIME_ID";
