import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function PermissionsPage() {
  return (
    <PageFrame title="Permissions" state="empty">
      <Empty icon="permissions" title="Nothing here yet" />
    </PageFrame>
  );
}
