import type { ReactNode } from "react";
import { Modal as AriaModal, Dialog, ModalOverlay } from "react-aria-components";

/** Over everything; Escape and a click beside it close it, and the focus goes back to where it was. */
export function Modal(props: {
  readonly label: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly sheet?: boolean;
  readonly className?: string;
}) {
  return (
    <ModalOverlay
      className="overlay"
      isOpen
      isDismissable
      onOpenChange={(isOpen) => !isOpen && props.onClose()}
    >
      <AriaModal className={`modal ${props.sheet === true ? "sheet" : ""} ${props.className ?? ""}`}>
        <Dialog className="dialog" aria-label={props.label}>
          {props.children}
        </Dialog>
      </AriaModal>
    </ModalOverlay>
  );
}
