import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function CronPage() {
  return (
    <PageFrame title="Cron" state="empty">
      <Empty icon="cron" title="Nothing here yet" />
    </PageFrame>
  );
}
