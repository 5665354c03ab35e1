import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function LivePage() {
  return (
    <PageFrame title="Live" state="empty">
      <Empty icon="live" title="Nothing here yet" />
    </PageFrame>
  );
}
