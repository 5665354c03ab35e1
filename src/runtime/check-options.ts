import { didYouMean } from "../config/did-you-mean.js";
import { failure, HermesError } from "../tool/errors.js";

interface Options {
  readonly known: Readonly<Record<string, true>>;
  readonly of: string;
}

/**
 * A mistyped option that is passed over can mean the opposite of what was meant: `toolset:` instead of `toolsets:`
 * would open every tool there is. The types say so too, but not everybody is asked by a compiler.
 */
export function refuseUnknownOptions(
  options: object,
  { known, of, elsewhere }: Options & { readonly elsewhere?: Options },
): void {
  const names = Object.keys(known);
  for (const option of Object.keys(options)) {
    if (Object.hasOwn(known, option)) continue;
    const hint =
      elsewhere !== undefined && Object.hasOwn(elsewhere.known, option)
        ? `It is an option of ${elsewhere.of}.`
        : (didYouMean(option, names) ?? `Its options are ${names.join(", ")}.`);
    throw new HermesError(failure("bad_request", `${of} has no option "${option}"`, hint));
  }
}
