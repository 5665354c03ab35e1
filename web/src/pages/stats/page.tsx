import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function StatsPage() {
  return (
    <PageFrame title="Stats" state="empty">
      <Empty icon="stats" title="Nothing here yet" />
    </PageFrame>
  );
}
