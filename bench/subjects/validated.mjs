// What any runtime has to do at least: check the arguments, then call.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { assertEchoed, echo, echoArguments, echoSchema } from "../echo.mjs";
import { callOperations } from "../operations.mjs";

export async function open() {
  // The product's own validator, so this row shows what the rest of the path adds.
  const fromProduct = createRequire(new URL("../../package.json", import.meta.url));
  const { Compile } = await import(pathToFileURL(fromProduct.resolve("typebox/schema")).href);
  const validator = Compile({}, echoSchema);
  const call = async (number) => {
    const args = echoArguments(number);
    if (!validator.Check(args)) throw new Error("invalid arguments");
    return echo(args);
  };
  assertEchoed("validated", await call(7));
  return { operations: callOperations(call) };
}
