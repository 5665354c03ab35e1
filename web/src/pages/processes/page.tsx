import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function ProcessesPage() {
  return (
    <PageFrame title="Processes" state="empty">
      <Empty icon="processes" title="Nothing here yet" />
    </PageFrame>
  );
}
