import { text } from "node:stream/consumers";

/** A client in a process of its own, for networks that the test is not in: asks one by one, keeps cookies, prints what came. */

export interface Asked {
  readonly method?: "POST";
  /** Of the server, or an address of its own. */
  readonly path: string;
  readonly token?: string;
  readonly json?: unknown;
  readonly headers?: Record<string, string>;
  /** Sent as a page sends it, with the token of the form that stood on the page before. */
  readonly form?: Record<string, string>;
}

export interface Got {
  readonly path: string;
  readonly status: number;
  readonly text: string;
}

if (import.meta.main) {
  const { url, asks } = JSON.parse(await text(process.stdin)) as { url: string; asks: readonly Asked[] };
  const jar = new Map<string, string>();
  const got: Got[] = [];
  let csrf = "";
  for (const { method = "GET", path, token, json, form, headers } of asks) {
    const reply = await fetch(new URL(path, url), {
      method: json === undefined && form === undefined ? method : "POST",
      redirect: "manual",
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(json === undefined ? {} : { "content-type": "application/json" }),
        ...(form === undefined ? {} : { origin: new URL(url).origin }),
        cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "),
        ...headers,
      },
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      ...(form === undefined ? {} : { body: new URLSearchParams({ _csrf: csrf, ...form }) }),
    });
    for (const set of reply.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      jar.set(name, value);
    }
    const body = await reply.text();
    csrf = /name="_csrf" value="([^"]+)"/.exec(body)?.[1] ?? csrf;
    got.push({ path, status: reply.status, text: body.slice(0, 500) });
  }
  process.stdout.write(JSON.stringify(got));
}
