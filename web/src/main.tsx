import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { keepPageKey } from "./api/client.js";
import { App } from "./app.js";
import { refetchOnEvents, stream } from "./events/use-events.js";
import { applyTheme } from "./lib/settings.js";
import "./styles/index.css";

applyTheme();
keepPageKey();
refetchOnEvents();
stream.start();

const root = document.getElementById("root");
if (root !== null)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
