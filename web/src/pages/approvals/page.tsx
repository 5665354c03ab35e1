import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function ApprovalsPage() {
  return (
    <PageFrame title="Approvals" state="empty">
      <Empty icon="approvals" title="Nothing here yet" />
    </PageFrame>
  );
}
