import { runProgram } from "./program.js";

// What the launcher (main.ts) loads first.
void runProgram(process.argv.slice(2));
