import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function SourcesPage() {
  return (
    <PageFrame title="Sources" state="empty">
      <Empty icon="sources" title="Nothing here yet" />
    </PageFrame>
  );
}
