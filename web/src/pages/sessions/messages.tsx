import { useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import type { SessionMessage } from "../../api/types.js";
import { count, plural } from "../../lib/format.js";
import { gist } from "../../lib/gist.js";
import { visible } from "../../lib/visible.js";
import { pathTo, setQuery } from "../../router.js";
import { Ago, Code, Cut } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { Icon, toolIcon } from "../../ui/icon.js";
import { JsonView } from "../../ui/json-view.js";
import { Link } from "../../ui/link.js";
import { Markdown } from "../../ui/markdown.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { Status } from "../../ui/status.js";
import { Marked } from "./marked.js";
import { messagesQuery } from "./use-sessions.js";

const WHO: Readonly<Record<SessionMessage["role"], string>> = {
  user: "You",
  assistant: "Agent",
  system: "System",
  summary: "Summary of what came before",
  tool: "Tool",
};

export function Messages(props: {
  readonly id: string;
  readonly words: string;
  readonly around: string | undefined;
}) {
  const { around, words } = props;
  const pages = useInfiniteQuery(messagesQuery(props.id, around));
  const messages = useMemo(() => pages.data?.pages.flatMap((page) => page.messages) ?? [], [pages.data]);
  const results = useMemo(() => answersOf(messages), [messages]);
  const called = useMemo(
    () => new Set(messages.flatMap(({ tool_calls }) => (tool_calls ?? []).map(({ id }) => id))),
    [messages],
  );
  const sought = useRef<HTMLLIElement>(null);
  const isThere = messages.some(({ id }) => id === around);
  useEffect(() => {
    if (isThere) sought.current?.scrollIntoView({ block: "center" });
  }, [isThere]);

  if (pages.data === undefined)
    return pages.isError ? (
      <ErrorState
        title="The messages could not be read"
        error={pages.error}
        onRetry={() => void pages.refetch()}
        busy={pages.isFetching}
      />
    ) : (
      <Skeleton />
    );
  if (messages.length === 0) return <Empty icon="sessions" title="No messages yet" />;
  const total = pages.data.pages[0]?.total ?? messages.length;
  return (
    <>
      {around !== undefined && (
        <p className="earlier">
          <Button look="plain" icon="up" onClick={() => setQuery({ message: undefined })}>
            From the beginning
          </Button>
        </p>
      )}
      <ol className="thread" aria-label="Messages">
        {messages
          .filter(({ tool_call_id }) => tool_call_id === null || !called.has(tool_call_id))
          .map((message) => (
            <li
              key={message.id}
              ref={message.id === around ? sought : null}
              className={`msg ${message.role}${message.id === around ? " sought" : ""}`}
            >
              <header>
                <b>{WHO[message.role]}</b>
                <span className="quiet">
                  <Ago at={Date.parse(message.at)} />
                </span>
              </header>
              <Body message={message} words={words} />
              {message.tool_calls?.map((call) => (
                <Call key={call.id} call={call} result={results.get(call)} words={words} session={props.id} />
              ))}
            </li>
          ))}
      </ol>
      {pages.hasNextPage && (
        <p className="earlier">
          <Button
            icon="down"
            busy={pages.isFetchingNextPage}
            onClick={() => void pages.fetchNextPage()}
          >{`More of ${count(total)}`}</Button>
        </p>
      )}
    </>
  );
}

type ToolCall = NonNullable<SessionMessage["tool_calls"]>[number];

/** From the end: where ids repeat, the next answer of that id is the one of the call. */
function answersOf(messages: readonly SessionMessage[]): ReadonlyMap<ToolCall, SessionMessage> {
  const open = new Map<string, SessionMessage>();
  const answers = new Map<ToolCall, SessionMessage>();
  for (const message of messages.toReversed()) {
    if (message.tool_call_id !== null) open.set(message.tool_call_id, message);
    for (const call of message.tool_calls ?? []) {
      const answer = open.get(call.id);
      if (answer !== undefined) answers.set(call, answer);
      open.delete(call.id);
    }
  }
  return answers;
}

function Body({ message, words }: { readonly message: SessionMessage; readonly words: string }) {
  const text = textOf(message);
  const pictures =
    typeof message.content === "string" ? [] : message.content.filter(({ type }) => type === "image");
  return (
    <>
      {text !== "" &&
        (message.role === "system" ? (
          <details className="system-text">
            <summary>{plural(text.length, "character")} of instructions</summary>
            <div className="said">
              <Marked text={text} words={words} />
            </div>
          </details>
        ) : message.role === "assistant" && words === "" ? (
          <Markdown text={text} />
        ) : (
          <div className="said">
            <Marked text={text} words={words} />
          </div>
        ))}
      {pictures.length > 0 && <p className="quiet">{plural(pictures.length, "picture")}</p>}
    </>
  );
}

/** A call with its answer; folded, because answers are long. */
function Call(props: {
  readonly call: ToolCall;
  readonly result: SessionMessage | undefined;
  readonly words: string;
  readonly session: string;
}) {
  const { call, result } = props;
  return (
    <details className="tcall">
      <summary>
        <Icon name={toolIcon(call.name, undefined)} />
        <b>{visible(call.name)}</b>
        <Cut mono className="soft grow" text={gist(parsed(call.arguments))} />
        {result === undefined ? (
          <Status tone="unknown" word="no answer" />
        ) : (
          <Status tone={result.is_error === true ? "error" : "ok"} calm />
        )}
        <Icon name="down" size="s" className="fold" />
      </summary>
      <div className="inside">
        <JsonView value={parsed(call.arguments)} label="Arguments" />
        {result !== undefined && (
          <Code wrap label="Result">
            <Marked text={textOf(result)} words={props.words} />
          </Code>
        )}
        <Link
          className="link"
          href={pathTo("live", { query: { conversation: props.session, call: call.id } })}
        >
          Decision, effects and timeline in Live
        </Link>
      </div>
    </details>
  );
}

function textOf({ content }: SessionMessage): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : part.type === "resource" ? (part.text ?? "") : ""))
    .join("\n")
    .trim();
}

/** Models send arguments as a text. */
function parsed(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
