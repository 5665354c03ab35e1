import { count } from "../../lib/format.js";
import { pathTo } from "../../router.js";
import { Card, Cut } from "../../ui/bits.js";
import { Link } from "../../ui/link.js";
import type { StatsAnswer } from "./types.js";

const SHOWN = 6;

/** What a rule or a person refused or stopped is no failure. */
const REFUSED = /denied|blocked|approval|cancelled/;

interface Kind {
  readonly code: string;
  readonly calls: number;
  readonly tools: readonly string[];
}

function kindsOf({ total, tools }: StatsAnswer): readonly Kind[] {
  return Object.entries(total.errors_by_code)
    .filter(([code]) => !REFUSED.test(code))
    .map(([code, calls]) => ({
      code,
      calls,
      tools: tools.filter((row) => (row.errors_by_code[code] ?? 0) > 0).map(({ tool }) => tool),
    }))
    .sort((first, second) => second.calls - first.calls);
}

/** Codes of errors, the most frequent first, with who has them. */
export function Failures({ stats }: { readonly stats: StatsAnswer }) {
  const kinds = kindsOf(stats);
  const most = kinds[0]?.calls ?? 1;
  const all = kinds.reduce((sum, kind) => sum + kind.calls, 0);
  return (
    <Card title="Why calls fail" end={count(all)}>
      {kinds.length === 0 ? (
        <p className="errs none quiet">Nothing failed in this time.</p>
      ) : (
        <ul className="errs">
          {kinds.slice(0, SHOWN).map(({ code, calls, tools }) => (
            <li key={code}>
              <Link href={pathTo("live", { query: { status: "error", q: code } })}>
                <span className="line">
                  <code>{code}</code>
                  <Cut
                    className="quiet"
                    text={
                      tools.length === 1
                        ? (tools[0] ?? "")
                        : tools.length === 0
                          ? ""
                          : `${tools.length} tools`
                    }
                  />
                  <span className="num">{count(calls)}</span>
                </span>
                <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
                  <rect className="track" width="100" height="4" />
                  <rect
                    className={code === "timeout" ? "c-timeout" : "c-error"}
                    width={(calls / most) * 100}
                    height="4"
                  />
                </svg>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
