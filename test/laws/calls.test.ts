import { testRuntime } from "../support/runtime.js";
import { callLaws } from "./laws-of-calls.js";
import { resultLaws } from "./laws-of-results.js";

callLaws(testRuntime);
resultLaws(testRuntime);
