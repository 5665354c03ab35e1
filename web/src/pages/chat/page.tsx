import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { infoQuery } from "../../api/queries.js";
import { useEvents } from "../../events/use-events.js";
import { PageFrame, type PageState } from "../../frame/page-frame.js";
import { plural } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { visible } from "../../lib/visible.js";
import { go, pathTo, usePlace } from "../../router.js";
import { Code, CopyButton, Cut, Glyph } from "../../ui/bits.js";
import { Button, ButtonLink } from "../../ui/button.js";
import { Link } from "../../ui/link.js";
import { Modal } from "../../ui/modal.js";
import { ErrorState, Skeleton, Strip } from "../../ui/states.js";
import { Aside, costOf, Recent, tokensOf } from "./aside.js";
import { Composer } from "./composer.js";
import {
  type Conversation,
  type ConversationState,
  conversationOf,
  newConversation,
} from "./conversation.js";
import { Thread } from "./thread.js";
import "./chat.css";

export default function ChatPage() {
  const { query } = usePlace();
  const session = query.session;
  const [, setAnew] = useState(0);
  const conversation = conversationOf(session);
  const state = useSyncExternalStore(conversation.subscribe, conversation.state);
  const info = useQuery(infoQuery);
  const [listed, setListed] = useState(false);
  useEffect(() => {
    // The first answer gives the conversation its name.
    if (session === undefined && state.session !== undefined)
      go(pathTo("chat", { query: { session: state.session } }), { replace: true });
  }, [session, state.session]);
  useEvents(({ type }) => {
    if (type === "stream.reset") void conversation.load();
  });
  const begin = () => {
    newConversation();
    setAnew((count) => count + 1);
    go(pathTo("chat"));
  };
  useKeys({ n: begin, Escape: () => state.running === "here" && void conversation.stop() });
  const hasModel = info.data === undefined || info.data.model !== undefined || state.items.length > 0;
  const pageState: PageState =
    state.load === "error"
      ? "error"
      : state.load === "loading" || info.isPending
        ? "loading"
        : state.items.length === 0
          ? "empty"
          : "ready";
  return (
    <PageFrame
      title="Chat"
      state={pageState}
      fact={<Cut text={state.title ?? firstWords(state) ?? "New conversation"} />}
      controls={
        <>
          <span className="narrow-only">
            <Button icon="sessions" onClick={() => setListed(true)}>
              Recent
            </Button>
          </span>
          <Button icon="plus" onClick={begin}>
            New
          </Button>
        </>
      }
    >
      {state.running === "elsewhere" && (
        <Strip tone="running" icon="s-running">
          <b>Runs elsewhere.</b> Another door has this conversation at the moment; what is written there shows
          up here.
        </Strip>
      )}
      <div className="split">
        <div className="pane chat-pane">
          {state.load === "error" ? (
            <ErrorState
              title="The conversation could not be read"
              error={state.loadError}
              stillWorks="Others, and new ones, work."
              onRetry={() => void conversation.load()}
            />
          ) : (
            <Talk conversation={conversation} state={state} hasModel={hasModel} />
          )}
        </div>
        <Aside state={state} />
      </div>
      {listed && (
        <Modal label="Recent conversations" sheet onClose={() => setListed(false)}>
          <div className="recent-sheet">
            <h2>Recent conversations</h2>
            <Recent current={state.session} onPick={() => setListed(false)} />
          </div>
        </Modal>
      )}
    </PageFrame>
  );
}

function firstWords(state: ConversationState): string | undefined {
  const first = state.items.find((item) => item.kind === "user");
  return first?.kind === "user" ? first.text.slice(0, 80) : undefined;
}

const NEAR_PX = 80;

function Talk(props: {
  readonly conversation: Conversation;
  readonly state: ConversationState;
  readonly hasModel: boolean;
}) {
  const { conversation, state } = props;
  const log = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const [isBehind, setBehind] = useState(false);
  const toEnd = () => log.current?.scrollTo({ top: log.current.scrollHeight });
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever reads at the end stays there, others stay where they are
  useEffect(() => {
    if (follows.current) toEnd();
  }, [state.items, state.load]);
  // The same when the window changes, or a question appears in what is there.
  useEffect(() => {
    const element = log.current;
    if (element === null) return;
    const watch = new ResizeObserver(() => {
      if (follows.current) element.scrollTo({ top: element.scrollHeight });
    });
    for (const each of [element, ...element.children]) watch.observe(each);
    return () => watch.disconnect();
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation opens at its end
  useEffect(() => {
    follows.current = true;
    toEnd();
  }, [conversation]);
  return (
    <>
      <div
        ref={log}
        className="scroll log"
        role="log"
        aria-label="Conversation"
        aria-busy={state.running === "here"}
        tabIndex={0}
        onScroll={({ currentTarget }) => {
          const { scrollTop, scrollHeight, clientHeight } = currentTarget;
          follows.current = scrollHeight - scrollTop - clientHeight < NEAR_PX;
          setBehind(!follows.current);
        }}
      >
        <div className="thread">
          {state.load === "loading" ? (
            <Skeleton rows={5} label="Loading the conversation" />
          ) : state.items.length > 0 ? (
            <>
              {state.earlier > 0 && state.session !== undefined && (
                <p className="notice">
                  <Link className="link" href={pathTo("sessions", { item: state.session })}>
                    {plural(state.earlier, "earlier message")} in Sessions
                  </Link>
                </p>
              )}
              <Thread items={state.items} isWriting={state.running === "here"} />
            </>
          ) : props.hasModel ? (
            <Welcome onPick={(text) => conversation.say({ text, images: [] })} />
          ) : (
            <NoModel />
          )}
          {state.failed !== undefined && (
            <div className="trouble" data-st="error" role="alert">
              <p className="grow">
                <b>It could not be sent.</b> {visible(state.failed.error.message)}
              </p>
              <Button icon="rerun" onClick={() => conversation.retry()}>
                Try again
              </Button>
            </div>
          )}
        </div>
      </div>
      {isBehind && (
        <Button className="to-end" icon="down" onClick={toEnd}>
          To the end
        </Button>
      )}
      {props.hasModel && <Composer conversation={conversation} state={state} />}
      {props.hasModel && <CostLine state={state} />}
    </>
  );
}

function CostLine({ state }: { readonly state: ConversationState }) {
  const parts = [tokensOf(state), costOf(state)].filter((part) => part !== undefined);
  return (
    <p className="cost tab">
      {parts.length === 0 ? "Enter sends, Shift Enter begins a new line" : parts.join(" · ")}
    </p>
  );
}

const STARTERS = [
  "What can you do here?",
  "Look around this folder and tell me what it is.",
  "Which tools need set-up, and how?",
];

function Welcome(props: { readonly onPick: (text: string) => void }) {
  return (
    <div className="welcome">
      <Glyph icon="chat" big />
      <h2>Talk with the agent</h2>
      <p>It works with the tools of this server, and asks here before it does something dangerous.</p>
      <div className="starters">
        {STARTERS.map((text) => (
          <Button key={text} onClick={() => props.onPick(text)}>
            {text}
          </Button>
        ))}
      </div>
    </div>
  );
}

const WAYS = [
  { what: "With a key of OpenAI, Anthropic, Gemini or OpenRouter", command: "hermes setup model" },
  { what: "Without a key: install Ollama (https://ollama.com), then", command: "ollama pull qwen3:8b" },
  {
    what: "With a server that speaks OpenAI's API",
    command: "hermes config set model.base_url http://HOST:PORT",
  },
] as const;

function NoModel() {
  return (
    <div className="welcome">
      <Glyph icon="chat" big />
      <h2>No model is set up</h2>
      <p>There is no key, no address, and no local server with a model. Three ways to one:</p>
      <ol className="ways">
        {WAYS.map(({ what, command }) => (
          <li key={command}>
            <span>{what}</span>
            <div className="row-flex">
              <Code label="Command">{command}</Code>
              <CopyButton text={command} />
            </div>
          </li>
        ))}
      </ol>
      <ButtonLink look="plain" icon="settings" href={pathTo("settings", { query: { q: "model" } })}>
        Model in Settings
      </ButtonLink>
    </div>
  );
}
