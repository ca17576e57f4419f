// One way to the server. Errors come as a sentence with a next step; 401 is told to whoever shows the sign-in page.

export interface Problem { status: number; title?: string; detail?: string; code?: string; next?: string; id?: string; errors?: { message: string; location?: string; code?: string }[] }

export class ApiError extends Error {
  constructor(readonly problem: Problem) { super(problem.detail ?? problem.title ?? `The server answered ${problem.status}.`); }
  get status() { return this.problem.status; }
}

const root = "/api/v1";
export const signedOut = new EventTarget();

export type Params = Record<string, string | number | boolean | null | undefined | readonly string[]>;

/** url joins a path and its parameters; what is empty is left out. */
export function url(path: string, params?: Params): string {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(params ?? {})) {
    if (v === undefined || v === null || v === "" || v === false) continue;
    if (Array.isArray(v)) for (const x of v) q.append(k, String(x));
    else q.set(k, String(v));
  }
  const s = q.toString();
  return root + path + (s ? "?" + s : "");
}

async function problemOf(r: Response): Promise<Problem> {
  try {
    const body = (await r.json()) as Partial<Problem>;
    return { ...body, status: r.status };
  } catch {
    return { status: r.status, detail: `The server answered ${r.status} ${r.statusText}.`.replace(" .", "."), next: "See the log of patra serve." };
  }
}

async function ask(method: string, path: string, params?: Params, body?: unknown, signal?: AbortSignal): Promise<Response> {
  let r: Response;
  try {
    r = await fetch(url(path, params), {
      method, signal, credentials: "same-origin",
      headers: { Accept: "application/json", "X-Patra": "1", ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (e) {
    if (e instanceof DOMException && e.name === "AbortError") throw e;
    throw new ApiError({ status: 0, code: "UNREACHABLE", detail: "The server does not answer.", next: "See whether patra serve still runs; this page tries again by itself." });
  }
  if (r.ok) return r;
  const p = await problemOf(r);
  if (r.status === 401 && path !== "/session") signedOut.dispatchEvent(new Event("signed-out"));
  throw new ApiError(p);
}

export async function get<T>(path: string, params?: Params, signal?: AbortSignal): Promise<T> {
  return (await ask("GET", path, params, undefined, signal)).json() as Promise<T>;
}

export async function send<T>(method: "POST" | "DELETE" | "PUT", path: string, body?: unknown): Promise<T> {
  const r = await ask(method, path, undefined, method === "DELETE" ? undefined : (body ?? {}));
  const text = await r.text();
  return (text ? JSON.parse(text) : {}) as T;
}

/** download asks for a file by POST, and hands it to the browser under a name. */
export async function download(path: string, body: unknown, name: string): Promise<void> {
  const r = await ask("POST", path, undefined, body);
  const href = URL.createObjectURL(await r.blob());
  const a = document.createElement("a");
  a.href = href; a.download = name; a.click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}
