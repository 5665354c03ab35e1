import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function LogsPage() {
  return (
    <PageFrame title="Logs" state="empty">
      <Empty icon="logs" title="Nothing here yet" />
    </PageFrame>
  );
}
