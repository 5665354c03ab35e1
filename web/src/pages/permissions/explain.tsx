import { useMutation, useQuery } from "@tanstack/react-query";
import { useEffect, useId, useState } from "react";
import { get, post } from "../../api/client.js";
import type { ExplainAnswer, PermissionsAnswer, ToolsAnswer, TraceLine } from "../../api/types.js";
import { sentence } from "../../lib/format.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { setQuery, usePlace } from "../../router.js";
import { Card, Chip, CopyButton, Cut } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Select } from "../../ui/controls.js";
import { Icon } from "../../ui/icon.js";
import { Notice } from "../../ui/notice.js";
import { Empty } from "../../ui/states.js";
import { Status, StatusIcon, type Tone } from "../../ui/status.js";
import { placeOf } from "./profiles.js";

const TONES: Readonly<Record<ExplainAnswer["verdict"], { readonly tone: Tone; readonly word: string }>> = {
  allow: { tone: "ok", word: "allowed" },
  ask: { tone: "asked", word: "asked" },
  deny: { tone: "denied", word: "denied" },
};

/** Which rule decides about a call, and every rule that was looked at before. Nothing runs. */
export function Explain({ permissions }: { readonly permissions: PermissionsAnswer }) {
  const { query } = usePlace();
  const id = useId();
  const [tool, setTool] = useState(query.tool ?? "terminal");
  const [text, setText] = useState(query.args ?? '{ "command": "git push --force" }');
  const profile = query.profile ?? permissions.current;
  const tools = useQuery({
    queryKey: ["tools", "names"],
    queryFn: ({ signal }) => get<ToolsAnswer>("/v1/tools?detail=1", { signal }),
  });
  const explain = useMutation({
    mutationFn: (given: { tool: string; arguments: unknown; profile: string }) =>
      post<ExplainAnswer>("/v1/permissions/explain", given),
  });
  const problem = jsonProblem(text);
  const run = () => {
    if (problem !== undefined || tool === "") return;
    setQuery({ tool, args: text });
    explain.mutate({ tool, arguments: JSON.parse(text) as unknown, profile });
  };
  // An address that names a call answers at once.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when it is opened, and for another profile
  useEffect(() => {
    if (query.tool !== undefined) run();
  }, [profile]);
  return (
    <div className="split perms">
      <form
        className="perm-form"
        onSubmit={(event) => {
          event.preventDefault();
          run();
        }}
        onKeyDown={(event) => event.key === "Enter" && (event.metaKey || event.ctrlKey) && run()}
      >
        <div className="labelled">
          <label htmlFor={`${id}-tool`}>Tool</label>
          <input
            id={`${id}-tool`}
            className="in"
            list={`${id}-tools`}
            value={tool}
            autoComplete="off"
            onChange={(event) => setTool(event.target.value)}
          />
          <datalist id={`${id}-tools`}>
            {tools.data?.map(({ name }) => (
              <option key={name} value={name} />
            ))}
          </datalist>
        </div>
        <div className="labelled">
          <label htmlFor={`${id}-args`}>Arguments</label>
          <textarea
            id={`${id}-args`}
            className="in"
            rows={6}
            spellCheck={false}
            value={text}
            aria-invalid={problem !== undefined || undefined}
            aria-describedby={`${id}-about`}
            onChange={(event) => setText(event.target.value)}
          />
          <p id={`${id}-about`} className={problem === undefined ? "about" : "about bad"}>
            {problem ?? "A JSON object, as a model would send it."}
          </p>
        </div>
        <div className="labelled">
          <span className="as-label">Profile</span>
          <Select
            label="Profile"
            value={profile}
            options={permissions.profiles.map(({ name }) => ({ value: name, label: name }))}
            onChange={(value) => setQuery({ profile: value === permissions.current ? undefined : value })}
          />
        </div>
        <div className="actions">
          <Button
            look="ink"
            type="submit"
            busy={explain.isPending}
            keys={navigator.platform.startsWith("Mac") ? "⌘⏎" : "Ctrl ⏎"}
            disabledBecause={problem}
          >
            Explain
          </Button>
          <CopyButton
            look="plain"
            label="Command"
            text={`hermes permissions explain ${tool} '${text.replaceAll("'", "'\\''")}'`}
          />
        </div>
        <Notice error={explain.error} />
      </form>
      <div className="scroll perm-body" tabIndex={0} role="region" aria-label="Result" aria-live="polite">
        {explain.data === undefined ? (
          <Empty icon="permissions" title="Nothing runs">
            Name a tool and its arguments; you see whether it would run, ask or be denied, and every rule on
            the way.
          </Empty>
        ) : (
          <Explained answer={explain.data} />
        )}
      </div>
    </div>
  );
}

function Explained({ answer }: { readonly answer: ExplainAnswer }) {
  const { tone, word } = TONES[answer.verdict];
  return (
    <div className="page">
      <div className="verdict-line">
        <Status tone={tone} word={word} pill />
        <span>
          <b>{visible(sentence(answer.reason || "No rule stands against it"))}</b>{" "}
          <span className="quiet">
            Rule <code>{visibleLine(answer.rule)}</code>
          </span>
        </span>
      </div>
      <Card title="Effects" end={`profile ${visibleLine(answer.profile)}`}>
        {answer.effects.length === 0 ? (
          <p className="quiet pad">It touches nothing.</p>
        ) : (
          <ul className="effects">
            {answer.effects.map(({ action, resource }) => (
              <li key={`${action} ${resource}`}>
                <Chip mono>{visibleLine(action)}</Chip>
                <Cut mono text={resource === "*" ? "anything" : resource} />
              </li>
            ))}
          </ul>
        )}
      </Card>
      <Card title="Rules in the order they were looked at" end={String(answer.trace.length)}>
        <ol className="rules">
          {answer.trace.map((line, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: one rule may be looked at for several effects
            <TraceRow key={index} line={line} />
          ))}
        </ol>
      </Card>
    </div>
  );
}

function TraceRow({ line }: { readonly line: TraceLine }) {
  const tone: Tone | undefined =
    line.outcome === "allow" || line.outcome === "ask" || line.outcome === "deny"
      ? TONES[line.outcome].tone
      : undefined;
  return (
    <li data-st={tone}>
      <span className="verb">
        {tone === undefined ? (
          <Icon name={line.outcome === "pass" ? "check" : "minus"} size="s" />
        ) : (
          <StatusIcon tone={tone} />
        )}
        {line.outcome}
      </span>
      <span className="what">
        <code>{visibleLine(line.rule)}</code>
        {line.effect !== undefined && <span className="quiet">{visibleLine(line.effect)}</span>}
        {line.reason !== undefined && <span className="quiet">{visible(line.reason)}</span>}
      </span>
      <span className="quiet where" title={line.file}>
        {line.file === undefined ? (line.list ?? "built-in") : placeOf({ file: line.file, line: line.line })}
      </span>
    </li>
  );
}

function jsonProblem(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? undefined
      : "It must be a JSON object: { … }.";
  } catch (error) {
    return `This is no JSON: ${error instanceof Error ? error.message : String(error)}`;
  }
}
