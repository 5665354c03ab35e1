/** The server's answers; the routes are held against the same types. */
export type * from "../../../src/server/dashboard-types.js";
export type AnswerWord = "once" | "session" | "always" | "deny";
