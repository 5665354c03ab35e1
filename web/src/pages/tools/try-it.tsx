import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react";
import { ApiError, post } from "../../api/client.js";
import type { ForetellAnswer, RunAnswer, ToolAnswer } from "../../api/types.js";
import { visible } from "../../lib/visible.js";
import { setQuery, usePlace } from "../../router.js";
import { CopyButton } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Icon, type IconName } from "../../ui/icon.js";
import { ObjectFields } from "./form/fields.js";
import { resolved, type Schema } from "./form/kinds.js";
import { Result } from "./result.js";

type Arguments = Readonly<Record<string, unknown>>;
const SETTLE_MS = 250;

/** A form made from the schema; what would be decided is said before anything runs. */
export function TryIt({ about }: { readonly about: ToolAnswer }) {
  const { name } = about.tool;
  const schema = useMemo(() => resolved(about.parameters as Schema), [about.parameters]);
  const { query } = usePlace();
  const isRaw = query.raw === "1";
  const [args, setArgs] = useState<Arguments>({});
  /** Begins the fields anew when their values come from outside them. */
  const [filled, setFilled] = useState(0);
  const [raw, setRaw] = useState("{}");
  const [hasTried, setHasTried] = useState(false);
  const rawProblem = isRaw ? problemOf(raw) : undefined;
  const queries = useQueryClient();

  const fill = (given: Arguments) => {
    setArgs(given);
    setRaw(JSON.stringify(given, null, 2));
    setFilled((count) => count + 1);
  };
  const foretold = useForetold(name, args, rawProblem === undefined);
  const run = useMutation({
    mutationFn: (given: Arguments) =>
      post<RunAnswer>(`/v1/tools/${encodeURIComponent(name)}/run`, { arguments: given }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["calls"] }),
  });
  const start = () => {
    setHasTried(true);
    if (rawProblem !== undefined || run.isPending) return;
    run.mutate(args);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    start();
  };
  const wrong = useMemo(
    () =>
      new Map(
        (foretold.data?.errors ?? [])
          .filter(({ path }) => path !== "" && (hasTried || at(args, path) !== undefined))
          .map(({ path, message }) => [path, message]),
      ),
    [foretold.data, hasTried, args],
  );
  const hasFields = Object.keys(schema.properties ?? {}).length > 0;
  const isFolded = about.examples.length > 0;
  return (
    <div className="try">
      <form
        className="form"
        aria-label="Arguments"
        noValidate
        onKeyDown={onKeyDown}
        onSubmit={(event) => {
          event.preventDefault();
          start();
        }}
      >
        <div className="form-head">
          {isFolded && (
            <select
              className="select"
              aria-label="Fill in an example"
              value=""
              onChange={({ target }) => {
                const example = about.examples[Number(target.value)];
                if (example !== undefined) fill(example.arguments);
              }}
            >
              <option value="" disabled>
                Fill in an example
              </option>
              {about.examples.map((example, index) => (
                <option key={example.title} value={index}>
                  {visible(example.title)}
                </option>
              ))}
            </select>
          )}
          <span className="grow" />
          <Button
            look="plain"
            icon="t-code"
            aria-pressed={isRaw}
            onClick={() => {
              if (!isRaw) setRaw(JSON.stringify(args, null, 2));
              else setFilled((count) => count + 1);
              setQuery({ raw: isRaw ? undefined : "1" });
            }}
          >
            {isRaw ? "Form" : "JSON"}
          </Button>
        </div>
        {isRaw ? (
          <div className="f">
            <div className="lab">
              <label htmlFor="raw-arguments">Arguments as JSON</label>
            </div>
            <textarea
              id="raw-arguments"
              className="in"
              rows={Math.min(24, Math.max(8, raw.split("\n").length + 1))}
              spellCheck={false}
              aria-invalid={rawProblem !== undefined || undefined}
              aria-describedby="raw-about"
              value={raw}
              onChange={({ target }) => {
                setRaw(target.value);
                if (problemOf(target.value) === undefined) setArgs(JSON.parse(target.value) as Arguments);
              }}
            />
            <p id="raw-about" className={rawProblem === undefined ? "help" : "help bad"}>
              {rawProblem ?? "Exactly what a model would send."}
            </p>
          </div>
        ) : hasFields ? (
          <ObjectFields
            key={filled}
            properties={schema.properties ?? {}}
            required={schema.required ?? []}
            value={args}
            pointer=""
            wrong={wrong}
            onChange={setArgs}
          />
        ) : (
          <p className="help">It takes no arguments.</p>
        )}
        <div className="form-end">
          <Foretold foretold={rawProblem === undefined ? foretold.data : undefined} error={foretold.error} />
          <div className="go">
            <Button
              look="ink"
              type="submit"
              keys={navigator.platform.startsWith("Mac") ? "⌘⏎" : "Ctrl ⏎"}
              busy={run.isPending}
              onClick={(event) => {
                event.preventDefault();
                start();
              }}
            >
              Run
            </Button>
            <CopyButton text={commandOf(name, args)} label="Command" />
          </div>
        </div>
      </form>
      <Result tool={about.tool} run={run} />
    </div>
  );
}

function useForetold(name: string, args: Arguments, isOn: boolean) {
  const [settled, setSettled] = useState(args);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSettled(args), SETTLE_MS);
    return () => clearTimeout(timer.current);
  }, [args]);
  return useQuery({
    queryKey: ["foretold", name, settled],
    queryFn: ({ signal }) =>
      post<ForetellAnswer>(
        `/v1/tools/${encodeURIComponent(name)}/foretell`,
        { arguments: settled },
        { signal },
      ),
    enabled: isOn,
    // While the next word is awaited the last one stays, so that nothing jumps.
    placeholderData: (before) => before,
    staleTime: 5_000,
    gcTime: 10_000,
  });
}

const WORDS: Readonly<
  Record<
    ForetellAnswer["decision"],
    { readonly tone: string; readonly icon: IconName; readonly text: string }
  >
> = {
  allow: { tone: "ok", icon: "s-ok", text: "Would be allowed" },
  ask: { tone: "asked", icon: "s-asked", text: "Somebody would be asked" },
  deny: { tone: "denied", icon: "s-denied", text: "Would be denied" },
  invalid: { tone: "cancelled", icon: "info", text: "Not complete yet" },
};

function Foretold(props: { readonly foretold: ForetellAnswer | undefined; readonly error: Error | null }) {
  if (props.error !== null && props.foretold === undefined)
    return (
      <p className="foretold" data-st="unknown" role="status">
        <Icon name="s-unknown" />
        <span>
          <b>Cannot be foretold.</b> {visible(props.error.message)}
          {props.error instanceof ApiError &&
            props.error.hint !== undefined &&
            ` ${visible(props.error.hint)}`}
        </span>
      </p>
    );
  if (props.foretold === undefined)
    return (
      <p className="foretold" data-st="cancelled" role="status">
        <Icon name="s-unknown" />
        <span>What would be decided is said here.</span>
      </p>
    );
  const { decision, reason, rule, effects, errors } = props.foretold;
  const { tone, icon, text } = WORDS[decision];
  const missing = decision === "invalid" ? errors.map(({ message }) => message).join("\n") || reason : reason;
  return (
    <div className="foretold" data-st={tone} role="status">
      <Icon name={icon} />
      <div className="grow">
        <p>
          <b>{text}</b>
          {decision !== "invalid" && rule !== "" && (
            <>
              {" "}
              by <code>{visible(rule)}</code>
            </>
          )}
        </p>
        {missing !== "" && <p className="why">{visible(missing)}</p>}
        {effects.length > 0 && (
          <ul className="effects">
            {effects.slice(0, 4).map((effect) => (
              <li key={`${effect.action} ${effect.resource}`}>
                <span className="chip mono">{effect.action}</span>
                <code className="cut">{visible(effect.resource)}</code>
              </li>
            ))}
            {effects.length > 4 && <li className="quiet">and {effects.length - 4} more</li>}
          </ul>
        )}
      </div>
    </div>
  );
}

function problemOf(raw: string): string | undefined {
  try {
    const value: unknown = JSON.parse(raw);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? undefined
      : "Arguments are one object: { … }";
  } catch (error) {
    return error instanceof Error ? error.message : "This is not JSON.";
  }
}

/** The value at a JSON pointer. */
function at(value: unknown, pointer: string): unknown {
  return pointer
    .split("/")
    .slice(1)
    .reduce<unknown>((inner, part) => {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      return typeof inner === "object" && inner !== null
        ? (inner as Readonly<Record<string, unknown>>)[key]
        : undefined;
    }, value);
}

export function commandOf(name: string, args: Arguments): string {
  const given = JSON.stringify(args);
  return given === "{}" ? `hermes call ${name}` : `hermes call ${name} '${given.replaceAll("'", "'\\''")}'`;
}
