import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function ToolsPage() {
  return (
    <PageFrame title="Tools" state="empty">
      <Empty icon="tools" title="Nothing here yet" />
    </PageFrame>
  );
}
