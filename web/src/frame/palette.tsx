import { useQuery } from "@tanstack/react-query";
import fuzzysort from "fuzzysort";
import { useId, useState } from "react";
import { get } from "../api/client.js";
import { recentQuery } from "../api/queries.js";
import type { SessionLine, ToolListing, ToolsAnswer } from "../api/types.js";
import { switchTheme } from "../lib/settings.js";
import { visibleLine } from "../lib/visible.js";
import { PAGES } from "../pages/index.js";
import { go, pathTo } from "../router.js";
import { Icon, type IconName, toolIcon } from "../ui/icon.js";
import { Modal } from "../ui/modal.js";

interface Command {
  readonly id: string;
  readonly group: (typeof GROUPS)[number];
  readonly text: string;
  readonly icon: IconName;
  readonly keys?: readonly string[];
  run(): void;
}

const SHOWN = 12;
const GROUPS = ["Actions", "Go to", "Tools", "Conversations"] as const;
/** What nobody sees before a word of it is typed: there is too much of it. */
const SOUGHT: ReadonlySet<string> = new Set(["Tools", "Conversations"]);

/** Type what you want to do or see; Enter does it. */
export function Palette(props: { readonly onClose: () => void; readonly onKeys: () => void }) {
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const id = useId();
  const tools = useQuery({
    queryKey: ["tools", "names"],
    queryFn: async ({ signal }) => get<ToolsAnswer>("/v1/tools?detail=1", { signal }),
  });
  const conversations = useQuery(recentQuery).data?.sessions ?? [];
  const commands = [
    ...actions(props),
    ...pageCommands(),
    ...(tools.data ?? []).map(toolCommand),
    ...conversations.map(conversationCommand),
  ];
  const found =
    text === ""
      ? commands.filter(({ group }) => !SOUGHT.has(group)).slice(0, SHOWN + 6)
      : fuzzysort.go(text, commands, { key: "text", limit: SHOWN, threshold: 0.2 }).map(({ obj }) => obj);
  const ordered = GROUPS.flatMap((group) => found.filter((command) => command.group === group));
  const chosen = ordered[Math.min(at, ordered.length - 1)];
  const run = (command: Command | undefined) => {
    if (command === undefined) return;
    props.onClose();
    command.run();
  };
  return (
    <Modal label="Search and commands" onClose={props.onClose} className="cmdk">
      <div className="ask-in">
        <Icon name="search" />
        <input
          autoFocus
          role="combobox"
          aria-expanded="true"
          aria-controls={`${id}-list`}
          aria-activedescendant={chosen === undefined ? undefined : `${id}-${chosen.id}`}
          aria-label="Search or run"
          placeholder="Search or run"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (step !== undefined) {
              event.preventDefault();
              setAt(
                (now) =>
                  (Math.min(now, ordered.length - 1) + step + ordered.length) % Math.max(1, ordered.length),
              );
            }
            if (event.key === "Enter" && !event.nativeEvent.isComposing) {
              event.preventDefault();
              run(chosen);
            }
          }}
        />
      </div>
      <div className="found" id={`${id}-list`} role="listbox" aria-label="Found">
        {GROUPS.map((group) => {
          const part = ordered.filter((command) => command.group === group);
          if (part.length === 0) return null;
          return (
            <div key={group} role="group" aria-label={group}>
              <h3 aria-hidden="true">{group}</h3>
              {part.map((command) => (
                <div
                  key={command.id}
                  id={`${id}-${command.id}`}
                  className="option"
                  role="option"
                  tabIndex={-1}
                  aria-selected={command === chosen}
                  onPointerMove={() => setAt(ordered.indexOf(command))}
                  onClick={() => run(command)}
                >
                  <Icon name={command.icon} />
                  <span className="cut">{command.text}</span>
                  <span className="end" aria-hidden="true">
                    {command.keys?.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </span>
                </div>
              ))}
            </div>
          );
        })}
        {ordered.length === 0 && (
          <p className="nothing">Nothing is called that. Try a page, a tool or a conversation.</p>
        )}
      </div>
    </Modal>
  );
}

function actions(props: { readonly onKeys: () => void }): readonly Command[] {
  return [
    {
      id: "next-question",
      group: "Actions",
      text: "Answer the question that runs out next",
      icon: "approvals",
      run: () => go(pathTo("approvals")),
    },
    {
      id: "failed",
      group: "Actions",
      text: "Show failed calls in Live",
      icon: "filter",
      run: () => go(pathTo("live", { query: { status: "error" } })),
    },
    {
      id: "denied",
      group: "Actions",
      text: "Show denied calls in Live",
      icon: "filter",
      run: () => go(pathTo("live", { query: { status: "denied" } })),
    },
    { id: "theme", group: "Actions", text: "Switch between light and dark", icon: "theme", run: switchTheme },
    { id: "keys", group: "Actions", text: "Show all keys", icon: "keyboard", keys: ["?"], run: props.onKeys },
  ];
}

function pageCommands(): readonly Command[] {
  return PAGES.map((page) => ({
    id: `page-${page.id}`,
    group: "Go to",
    text: `${page.title}: ${page.about.charAt(0).toLowerCase()}${page.about.slice(1)}`,
    icon: page.icon,
    keys: ["g", page.key],
    run: () => go(pathTo(page.id)),
  }));
}

function toolCommand(tool: ToolListing): Command {
  return {
    id: `tool-${tool.name}`,
    group: "Tools",
    text: tool.name,
    icon: toolIcon(tool.name, tool.toolset),
    run: () => go(pathTo("tools", { item: tool.name })),
  };
}

function conversationCommand({ id, title }: SessionLine): Command {
  return {
    id: `conversation-${id}`,
    group: "Conversations",
    text: visibleLine(title === "" ? "Untitled" : title),
    icon: "sessions",
    run: () => go(pathTo("sessions", { item: id })),
  };
}
