import { QueryClientProvider } from "@tanstack/react-query";
import { Component, type ReactNode, Suspense } from "react";
import { queryClient } from "./api/queries.js";
import { Frame } from "./frame/frame.js";
import { PageFrame } from "./frame/page-frame.js";
import { PAGES } from "./pages/index.js";
import { usePlace } from "./router.js";
import { ButtonLink } from "./ui/button.js";
import { Empty, ErrorState, Skeleton } from "./ui/states.js";

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Frame>
        <CurrentPage />
      </Frame>
    </QueryClientProvider>
  );
}

function CurrentPage() {
  const { page } = usePlace();
  const entry = PAGES.find(({ id }) => id === page);
  if (entry === undefined)
    return (
      <PageFrame title="No such page" state="empty">
        <Empty
          icon="search"
          title="There is no page at this address"
          action={<ButtonLink href="/live">To Live</ButtonLink>}
        />
      </PageFrame>
    );
  const loading = (
    <PageFrame title={entry.title} state="loading">
      <Skeleton />
    </PageFrame>
  );
  return (
    <PageBoundary key={page} title={entry.title}>
      <Suspense fallback={loading}>
        <entry.Page />
      </Suspense>
    </PageBoundary>
  );
}

/** A page that breaks leaves the frame and the other pages as they are. */
class PageBoundary extends Component<
  { readonly title: string; readonly children: ReactNode },
  { error?: unknown }
> {
  override state: { error?: unknown } = {};

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render(): ReactNode {
    if (this.state.error === undefined) return this.props.children;
    return (
      <PageFrame title={this.props.title} state="error">
        <ErrorState
          title="This page could not be shown"
          error={this.state.error}
          stillWorks="Calls still run, and the other pages work."
          onRetry={() => location.reload()}
        />
      </PageFrame>
    );
  }
}
