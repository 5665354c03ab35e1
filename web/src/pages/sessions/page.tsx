import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function SessionsPage() {
  return (
    <PageFrame title="Sessions" state="empty">
      <Empty icon="sessions" title="Nothing here yet" />
    </PageFrame>
  );
}
