import type { SessionLine } from "../../api/types.js";
import { count, plural } from "../../lib/format.js";
import { Ago, Cut } from "../../ui/bits.js";
import type { ListColumn } from "../../ui/list.js";
import { Status } from "../../ui/status.js";
import { Marked } from "./marked.js";
import type { Row } from "./use-sessions.js";

export function titleOf({ title, id }: Pick<SessionLine, "title" | "id">): string {
  return title === "" ? id : title;
}

export function SessionState({ state }: { readonly state: SessionLine["state"] }) {
  if (state === "running") return <Status tone="running" />;
  return state === "cut_off" ? <Status tone="unknown" word="cut off" /> : null;
}

export function sessionColumns(words: string): readonly ListColumn<Row>[] {
  return [
    {
      key: "title",
      title: "Conversation",
      className: "c-title",
      cell: (row) => (
        <>
          <span className="row-flex">
            <Cut className="title" text={titleOf(row)} />
            <SessionState state={row.state} />
          </span>
          <span className="cut quiet second">
            {row.passage === undefined ? (
              `${plural(row.messages, "message")} · ${row.source}${row.model === "" ? "" : ` · ${row.model}`}`
            ) : (
              <Marked text={row.passage.snippet} words={words} />
            )}
          </span>
        </>
      ),
    },
    {
      key: "folder",
      title: "Folder",
      className: "c-folder wide quiet",
      cell: (row) => <Cut text={row.cwd} mono />,
    },
    {
      key: "messages",
      title: "Messages",
      className: "c-messages num wide soft",
      cell: (row) => count(row.messages),
    },
    {
      key: "cost",
      title: "Cost",
      className: "c-cost num wide soft",
      cell: (row) =>
        row.cost_usd === undefined ? "–" : `$${row.cost_usd.toFixed(row.cost_usd < 0.1 ? 4 : 2)}`,
    },
    {
      key: "age",
      title: "Used",
      className: "c-age num quiet",
      cell: (row) => <Ago at={Date.parse(row.updated_at)} />,
    },
  ];
}
