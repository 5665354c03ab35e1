import { useQuery } from "@tanstack/react-query";
import { get } from "../../api/client.js";
import type { PermissionsAnswer } from "../../api/types.js";
import { PageFrame, stateOf } from "../../frame/page-frame.js";
import { visibleLine } from "../../lib/visible.js";
import { setQuery, usePlace } from "../../router.js";
import { Tabs } from "../../ui/controls.js";
import { ErrorState, Skeleton, Strip } from "../../ui/states.js";
import { Explain } from "./explain.js";
import { Grants } from "./grants.js";
import { Profiles } from "./profiles.js";
import { Propose } from "./propose.js";
import { Simulate } from "./simulate.js";
import "./permissions.css";

const TABS = [
  { value: "profiles", label: "Profiles" },
  { value: "grants", label: "Grants" },
  { value: "explain", label: "Explain a call" },
  { value: "simulate", label: "Simulate" },
  { value: "propose", label: "Least privilege" },
] as const;

export default function PermissionsPage() {
  const { query } = usePlace();
  const tab = TABS.find(({ value }) => value === query.tab)?.value ?? "profiles";
  const asked = useQuery({
    queryKey: ["settings", "permissions"],
    queryFn: ({ signal }) => get<PermissionsAnswer>("/v1/permissions", { signal }),
  });
  const { data } = asked;
  return (
    <PageFrame
      title="Permissions"
      state={stateOf(asked, false)}
      fact={
        data !== undefined && (
          <>
            profile <b className="in-force">{visibleLine(data.current)}</b> in force
          </>
        )
      }
    >
      {data !== undefined && data.problems.length > 0 && (
        <Strip tone="error" icon="s-error">
          {data.problems.map(visibleLine).join(" ")}
        </Strip>
      )}
      <Tabs
        label="Permissions"
        value={tab}
        options={TABS}
        onChange={(value) => setQuery({ tab: value === "profiles" ? undefined : value })}
      />
      {data === undefined ? (
        asked.isError ? (
          <ErrorState
            title="The permissions could not be read"
            error={asked.error}
            stillWorks="Calls are still decided by the rules that were read last."
            onRetry={() => void asked.refetch()}
            busy={asked.isFetching}
          />
        ) : (
          <Skeleton />
        )
      ) : tab === "grants" ? (
        <Grants />
      ) : tab === "explain" ? (
        <Explain permissions={data} />
      ) : tab === "simulate" ? (
        <Simulate permissions={data} />
      ) : tab === "propose" ? (
        <Propose />
      ) : (
        <Profiles permissions={data} />
      )}
    </PageFrame>
  );
}
