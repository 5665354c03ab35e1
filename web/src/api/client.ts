/** One question to the server. Answers come as JSON; refusals become `ApiError` with what the server said. */

export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string | undefined;

  constructor(problem: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly hint?: string | undefined;
  }) {
    super(problem.message);
    this.name = "ApiError";
    this.status = problem.status;
    this.code = problem.code;
    this.hint = problem.hint;
  }
}

/** The server did not answer at all. */
export const UNREACHABLE = "unreachable";

type QueryValue = string | number | boolean | undefined;

export function address(path: string, query: Readonly<Record<string, QueryValue>> = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return search === "" ? path : `${path}?${search}`;
}

export async function get<Answer>(
  path: string,
  options: { readonly signal?: AbortSignal } = {},
): Promise<Answer> {
  return (await ask(path, { method: "GET", ...options })).json() as Promise<Answer>;
}

/** Sends the page key along: what changes something is refused without it. */
export async function post<Answer>(
  path: string,
  body: unknown = {},
  options: { readonly method?: "POST" | "DELETE"; readonly signal?: AbortSignal } = {},
): Promise<Answer> {
  const answer = await ask(path, {
    method: "POST",
    body: JSON.stringify(body),
    ...options,
    headers: { "content-type": "application/json" },
  });
  return answer.json() as Promise<Answer>;
}

/** The raw answer, for streams and files. */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, {
      credentials: "same-origin",
      ...init,
      headers: { ...init.headers, "x-hermes-page": pageKey() },
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError({
      status: 0,
      code: UNREACHABLE,
      message: "The server does not answer.",
      hint: "Is hermes serve still running?",
    });
  }
  if (!answer.ok) throw await errorOf(answer);
  return answer;
}

async function errorOf(answer: Response): Promise<ApiError> {
  const fallback = { status: answer.status, code: "error", message: `The server answered ${answer.status}.` };
  try {
    const { error } = (await answer.json()) as { error?: { code?: string; message?: string; hint?: string } };
    return new ApiError({
      status: answer.status,
      code: error?.code ?? fallback.code,
      message: error?.message ?? fallback.message,
      hint: error?.hint,
    });
  } catch {
    return new ApiError(fallback);
  }
}

const KEY = "hermes-answers";

/** Came behind the address that the server printed; kept where no other origin reads it. */
export function keepPageKey(): void {
  const [, given] = /^#answers=([\w-]+)$/.exec(location.hash) ?? [];
  if (given === undefined) return;
  localStorage.setItem(KEY, given);
  history.replaceState(null, "", location.pathname + location.search);
}

export function pageKey(): string {
  return localStorage.getItem(KEY) ?? "";
}
