import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { get, post } from "../../api/client.js";
import type { DoctorAnswer, DoctorFinding, DoctorFixed } from "../../api/types.js";
import { PageFrame, stateOf } from "../../frame/page-frame.js";
import { plural } from "../../lib/format.js";
import { useKeys } from "../../lib/keys.js";
import { visible, visibleLine } from "../../lib/visible.js";
import { setQuery, usePlace } from "../../router.js";
import { Card, CopyButton } from "../../ui/bits.js";
import { Button } from "../../ui/button.js";
import { FilterTabs } from "../../ui/controls.js";
import { Icon } from "../../ui/icon.js";
import { Notice } from "../../ui/notice.js";
import { Empty, ErrorState, Skeleton } from "../../ui/states.js";
import { Status, type Tone } from "../../ui/status.js";
import "./doctor.css";

const QUERY_KEY = ["doctor"];
const TONES: Readonly<Record<DoctorFinding["level"], { readonly tone: Tone; readonly word: string }>> = {
  error: { tone: "error", word: "error" },
  warning: { tone: "setup", word: "warning" },
  note: { tone: "cancelled", word: "note" },
  ok: { tone: "ok", word: "ok" },
};
const FIXES: Readonly<Record<string, string>> = {
  home: "Close it to others",
  packages: "Fetch what is missing",
};
type Level = DoctorFinding["level"] | "all";

export default function DoctorPage() {
  const { query } = usePlace();
  const client = useQueryClient();
  const asked = useQuery({
    queryKey: QUERY_KEY,
    staleTime: 60_000,
    queryFn: ({ signal }) => get<DoctorAnswer>("/v1/doctor", { signal }),
  });
  const fix = useMutation({
    mutationFn: (id: string) => post<DoctorFixed>("/v1/doctor/fix", { fix: id }),
    onSuccess: ({ ok, findings }) => {
      client.setQueryData<DoctorAnswer>(QUERY_KEY, { ok, findings });
      void client.invalidateQueries({ queryKey: ["tools"] });
      void client.invalidateQueries({ queryKey: ["info"] });
    },
  });
  const again = () => void asked.refetch();
  useKeys({ r: again });
  const findings = asked.data?.findings ?? [];
  const level = (["error", "warning", "note", "ok"] as const).find((known) => known === query.level) ?? "all";
  const shown = findings.filter((finding) => level === "all" || finding.level === level);
  const number = (of: Level) => findings.filter((finding) => finding.level === of).length;
  return (
    <PageFrame
      title="Doctor"
      state={stateOf(asked, findings.length === 0)}
      fact={asked.data !== undefined && summary(number("error"), number("warning"))}
      controls={
        <Button icon="rerun" keys="R" busy={asked.isFetching} onClick={again}>
          Look again
        </Button>
      }
    >
      {asked.data === undefined ? (
        asked.isError ? (
          <ErrorState
            title="The examination did not end"
            error={asked.error}
            stillWorks="Calls still run."
            onRetry={again}
            busy={asked.isFetching}
          />
        ) : (
          <Skeleton rows={10} label="Examining" />
        )
      ) : (
        <>
          <div className="filters level-tabs">
            <FilterTabs<Level>
              label="Findings"
              value={level}
              options={[
                { value: "all", label: "All", count: findings.length },
                { value: "error", label: "Errors", count: number("error"), icon: "s-error", tone: "error" },
                {
                  value: "warning",
                  label: "Warnings",
                  count: number("warning"),
                  icon: "warn",
                  tone: "setup",
                },
                { value: "note", label: "Notes", count: number("note"), icon: "info" },
                { value: "ok", label: "Ok", count: number("ok"), icon: "s-ok", tone: "ok" },
              ]}
              onChange={(value) => setQuery({ level: value === "all" ? undefined : value })}
            />
          </div>
          <div className="scroll" tabIndex={0} role="group" aria-label="Findings">
            {shown.length === 0 ? (
              <Empty icon="doctor" title={level === "error" ? "No errors" : "Nothing of this kind"} />
            ) : (
              <div className="page doctor">
                {(fix.isError || fix.data !== undefined) && (
                  <Notice error={fix.error}>
                    {fix.data !== undefined &&
                      (fix.data.mended.length === 0
                        ? "There was nothing left to mend."
                        : fix.data.mended.map(visibleLine).join(" "))}
                  </Notice>
                )}
                {groupsOf(shown).map(([group, members]) => (
                  <Card key={group} title={group} end={plural(members.length, "finding")}>
                    <ul className="findings">
                      {members.map((finding) => (
                        <Finding
                          key={`${finding.level} ${finding.what}`}
                          finding={finding}
                          busy={fix.isPending && fix.variables === finding.fix_id}
                          onFix={(id) => fix.mutate(id)}
                        />
                      ))}
                    </ul>
                  </Card>
                ))}
              </div>
            )}
          </div>
        </>
      )}
    </PageFrame>
  );
}

function Finding(props: {
  readonly finding: DoctorFinding;
  readonly busy: boolean;
  readonly onFix: (id: string) => void;
}) {
  const { finding } = props;
  const { fix, fix_id: fixId } = finding;
  const { tone, word } = TONES[finding.level];
  const isCommand = fix !== undefined && /^(?:hermes|npx|npm|apt|brew|sudo|chmod|pip|uv|docker)\b/.test(fix);
  return (
    <li>
      {finding.level === "note" ? (
        <span className="st" data-st="cancelled">
          <Icon name="info" size="s" />
          <span className="st-word">{word}</span>
        </span>
      ) : (
        <Status tone={tone} word={word} calm />
      )}
      <span className="what">
        <span>{visible(finding.what)}</span>
        {fix !== undefined &&
          (isCommand ? <code>{visibleLine(fix)}</code> : <span className="quiet">{visible(fix)}</span>)}
      </span>
      <span className="acts">
        {fixId !== undefined && (
          <Button busy={props.busy} onClick={() => props.onFix(fixId)}>
            {FIXES[fixId] ?? "Fix"}
          </Button>
        )}
        {isCommand && <CopyButton look="plain" text={fix} label="Copy command" />}
      </span>
    </li>
  );
}

const ORDER: readonly DoctorFinding["level"][] = ["error", "warning", "note", "ok"];

/** Groups in the doctor's order, what is worst first in each. */
function groupsOf(findings: readonly DoctorFinding[]) {
  const groups = new Map<string, DoctorFinding[]>();
  for (const finding of findings) groups.set(finding.group, [...(groups.get(finding.group) ?? []), finding]);
  return [...groups].map(
    ([group, members]) =>
      [
        group,
        members.toSorted((first, second) => ORDER.indexOf(first.level) - ORDER.indexOf(second.level)),
      ] as const,
  );
}

function summary(errors: number, warnings: number): string {
  if (errors + warnings === 0) return "nothing stands in the way";
  const parts = [
    errors > 0 ? plural(errors, "error") : undefined,
    warnings > 0 ? plural(warnings, "warning") : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(", ");
}
