import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function SettingsPage() {
  return (
    <PageFrame title="Settings" state="empty">
      <Empty icon="settings" title="Nothing here yet" />
    </PageFrame>
  );
}
