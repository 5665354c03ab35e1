import { PageFrame } from "../../frame/page-frame.js";
import { Empty } from "../../ui/states.js";

export default function ChatPage() {
  return (
    <PageFrame title="Chat" state="empty">
      <Empty icon="chat" title="Nothing here yet" />
    </PageFrame>
  );
}
