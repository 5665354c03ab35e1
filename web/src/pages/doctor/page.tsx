import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function DoctorPage() {
  return (
    <PageFrame title="Doctor" state="empty">
      <Empty icon="doctor" title="Nothing here yet" />
    </PageFrame>
  );
}
